package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.page.DatabaseSource.EntryTail;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.TailLookup.DatabaseTail;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.MovedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.database.testing.TestLayout;
import lectus.document.DocumentsSubspace;
import lectus.document.RequestJson;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TailLookupTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = MovedDatabase.withLongPrefixes(stores.fresh());

  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final Catalogue here = catalogue();
  private final Catalogue elsewhere = catalogue();
  private final TailLookup tails = new TailLookup(here, transactions);
  private final DocumentWriter writer = new DocumentWriter(store, elsewhere);

  private Catalogue catalogue() {
    return new Catalogue(store, transactions, InstantSource.system());
  }

  private DatabaseHandle create(String name, int shards) {
    return elsewhere.create(DatabaseName.of(name), TestLayout.options(false, shards));
  }

  private Sequence write(DatabaseHandle database, String id) {
    return writer
        .write(database.name(), List.of(TestDatabase.edit(id, null, "{}")))
        .last()
        .orElseThrow();
  }

  private int readsOf(List<DatabaseHandle> databases) {
    List<String> reads = new ArrayList<>();
    transactions.read(tx -> tails.read(counting(tx, reads), databases));
    return reads.size();
  }

  private static ReadTransaction counting(ReadTransaction inner, List<String> reads) {
    return (ReadTransaction)
        Proxy.newProxyInstance(
            ReadTransaction.class.getClassLoader(),
            new Class<?>[] {ReadTransaction.class},
            (self, method, arguments) -> {
              if (method.getName().startsWith("get")) {
                reads.add(method.getName());
              }
              return method.getName().equals("snapshot") ? self : method.invoke(inner, arguments);
            });
  }

  @Test
  void each_database_is_told_where_it_stands() {
    DatabaseHandle empty = create("empty", 1);
    DatabaseHandle one = create("one", 1);
    DatabaseHandle many = create("many", 5);
    Sequence ofOne = write(one, "a");
    write(many, "a");
    write(many, "b");
    Sequence ofMany = write(many, "c");

    assertThat(tails.read(List.of(many, empty, one)))
        .containsExactly(
            new DatabaseTail(many.instance(), false, Optional.of(ofMany)),
            new DatabaseTail(empty.instance(), false, Optional.empty()),
            new DatabaseTail(one.instance(), false, Optional.of(ofOne)));
    assertThat(tails.read(List.of())).isEmpty();
  }

  @Test
  void a_life_that_is_over_is_noticed_even_if_the_name_has_another() {
    DatabaseHandle gone = create("gone", 1);
    DatabaseHandle again = create("again", 1);
    DatabaseHandle alive = create("alive", 1);
    tails.read(List.of(gone, again, alive));
    elsewhere.delete(gone.name());
    elsewhere.delete(again.name());
    create("again", 1);

    assertThat(tails.read(List.of(gone, again, alive)))
        .extracting(DatabaseTail::isOver)
        .containsExactly(true, true, false);
  }

  @Test
  void one_that_has_moved_is_over_for_who_knew_it_here() {
    DatabaseHandle before = create("moved", 1);
    elsewhere.relocate(
        before.name(),
        new Moved("r", "http://localhost/db", new Secret("s"), OptionalLong.empty()));
    DatabaseHandle after = elsewhere.locate(before.name()).orElseThrow();

    assertThat(tails.read(List.of(before, after)))
        .extracting(DatabaseTail::isOver)
        .containsExactly(true, false);
    elsewhere.delete(before.name());
    assertThat(tails.read(List.of(after))).extracting(DatabaseTail::isOver).containsExactly(true);
  }

  @Test
  void what_a_database_came_with_is_told_as_the_point_where_it_came() {
    DatabaseHandle source = create("source", 2);
    write(source, "a");
    MovedDatabase.copy(
        transactions, elsewhere, source.name(), DatabaseName.of("moved"), MovedDatabase.ABOVE);
    DatabaseHandle moved = here.open(DatabaseName.of("moved"));
    Sequence came = new Sequence(1, moved.joined().bytes());

    assertThat(tails.read(List.of(moved)).get(0).last()).contains(came);
    Sequence written = write(moved, "b");
    assertThat(tails.read(List.of(moved)).get(0).last()).contains(written);
    assertThat(written).isGreaterThan(came);
  }

  @Test
  void one_transaction_looks_at_so_many_shards_and_at_one_database_at_least() {
    TailLookup bounded = new TailLookup(here, transactions, 6);
    DatabaseHandle three = create("three", 3);
    DatabaseHandle two = create("two", 2);
    DatabaseHandle one = create("one", 1);
    DatabaseHandle many = create("many", 7);

    assertThat(bounded.read(List.of(three, two, one))).hasSize(3);
    assertThat(bounded.read(List.of(three, two, one, one))).hasSize(3);
    assertThat(bounded.read(List.of(three, three, one))).hasSize(2);
    assertThat(bounded.read(List.of(three, two, two))).hasSize(2);
    assertThat(bounded.read(List.of(many, one))).hasSize(1);
    assertThat(bounded.read(List.of(one, many))).hasSize(1);
    assertThat(bounded.read(Collections.nCopies(9, one))).hasSize(6);
  }

  @Test
  void many_databases_cost_one_look_at_the_metadata_version_and_a_read_for_each_shard() {
    List<DatabaseHandle> databases = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      databases.add(create("db" + i, 3));
    }
    tails.read(databases);

    assertThat(readsOf(databases)).isEqualTo(1 + 20 * 3);
    elsewhere.configure(databases.get(0).name(), it -> it);
    // A version key and a shard map for each; one database's row, configuration, validators,
    // derived
    // rows and purges.
    assertThat(readsOf(databases)).isEqualTo(1 + 20 * 2 + 5 + 20 * 3);
    assertThat(readsOf(databases)).isEqualTo(1 + 20 * 3);
  }

  /** The content of a tail's page for its views when some of them cannot be served. */
  @Nested
  class Pages {
    @RegisterExtension static final TestStores stores = new TestStores();

    private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);
    private final DatabaseHandle life = db.catalogue.open(db.name);
    private final EntryTail tail = new EntryTail(db.changes, life, Optional.empty());

    @Test
    void a_document_that_cannot_be_read_fails_those_views_alone_that_need_it() {
      View plain = add(FeedOptions.DEFAULT);
      View bodies = add(new FeedOptions(false, true, false, new FeedFilter.None(), 1));
      FeedFilter sound = new FeedFilter.DocumentIds(Set.of("a", "b"));
      View soundBodies = add(new FeedOptions(false, true, false, sound, 1));
      View selector = add(new FeedOptions(false, false, false, selector("{\"s\":\"x\"}"), 1));
      db.put("a", null, "{\"s\":\"x\"}");
      db.put("bad", null, "{\"s\":\"" + "x".repeat(250_000) + "\"}");
      db.put("b", null, "{\"s\":\"x\"}");
      clearLastRow("bad");

      TailPage<FeedPosition> page = tail.page(FeedPosition.BEGINNING);
      assertThat(page.reachedEnd()).isTrue();
      assertThat(ids(page.rows(plain))).containsExactly("a", "bad", "b");
      assertThat(ids(page.rows(soundBodies))).containsExactly("a", "b");
      assertThat(page.views().get(bodies)).isInstanceOf(ViewPage.Failed.class);
      assertThat(page.views().get(selector)).isInstanceOf(ViewPage.Failed.class);
    }

    /** Others listen to it, too, after the listener with the ids has left. */
    @Test
    void what_a_tail_listens_to_does_not_keep_ids() {
      FeedFilter ids = new FeedFilter.DocumentIds(Set.of("a", "b"));
      Sharing<FeedPosition> sharing =
          db.changes
              .live(
                  db.name,
                  new FeedOptions(false, false, false, ids, 1),
                  Since.now(),
                  new ToldByHand())
              .source()
              .sharing()
              .orElseThrow();
      Sharing<FeedPosition> ofNews = sharing.news().sharing().orElseThrow();
      assertThat(ofNews.tail()).isEqualTo(sharing.tail());
      assertThat(ofNews.view()).isEqualTo(FeedOptions.DEFAULT);
    }

    private View add(FeedOptions options) {
      View view = new View(options);
      tail.add(view);
      return view;
    }

    private static FeedFilter selector(String json) {
      byte[] body = ("{\"selector\":" + json + "}").getBytes(StandardCharsets.UTF_8);
      return FeedFilter.selected(RequestJson.object(body).get("selector").orElseThrow());
    }

    /** Clears the end of the document's only member, a long string. */
    private void clearLastRow(String id) {
      byte[] begin = new DocumentsSubspace(life).document(id);
      db.transactions.run(
          tx -> {
            List<KeyValue> rows =
                Awaiting.await(tx.getRange(begin, DocumentsSubspace.endOf(begin)).asList());
            tx.clear(rows.get(rows.size() - 1).getKey());
            return null;
          });
    }

    /** Each row is whole JSON. */
    private static List<String> ids(Rows<FeedPosition> rows) {
      List<String> ids = new ArrayList<>();
      for (int row = 0; row < rows.size(); row++) {
        int length = rows.end(row) - rows.start(row);
        String json = new String(rows.json(), rows.start(row), length, StandardCharsets.UTF_8);
        assertThat(json).matches("\\{\"seq\":\"\\w+\",\"id\":\"\\w+\",\"changes\":.*\\}");
        ids.add(json.replaceAll("\\{\"seq\":\"\\w+\",\"id\":\"(\\w+)\".*", "$1"));
      }
      return ids;
    }
  }
}
