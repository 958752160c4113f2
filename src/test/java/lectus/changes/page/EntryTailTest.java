package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.changes.filter.FeedFilter;
import lectus.changes.page.DatabaseSource.EntryTail;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentsSubspace;
import lectus.document.RequestJson;
import lectus.store.Awaiting;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The content of a tail's page for its views when some of them cannot be served. */
final class EntryTailTest {
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
