package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.page.PageReader.FeedPage;
import lectus.changes.testing.FeedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.document.DatabaseReads;
import lectus.document.RequestJson;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.DistantStore;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code filter=_selector}: rows chosen by the content of documents. */
class SelectorFeedTest {
  private static final long ALL = ChangesReader.NO_LIMIT;

  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");

  private static final int DOCUMENTS = 60;

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();

  private final FeedDatabase db = new FeedDatabase(store, 1);

  private static FeedOptions selected(
      String selector, boolean allLeaves, boolean includeDocs, String... fields) {
    String body = "{\"selector\":" + selector.replace('\'', '"') + "}";
    return new FeedOptions(
        allLeaves,
        includeDocs,
        true,
        FeedFilter.selected(
            RequestJson.object(FeedDatabase.utf8(body)).get("selector").orElseThrow()),
        1,
        List.of(fields).stream().map(FieldPath::parse).toList());
  }

  private List<String> matching(String selector) {
    return ids(db.normal(selected(selector, false, false), "0", ALL, false));
  }

  private static List<String> ids(String feed) {
    List<String> ids = new ArrayList<>();
    Matcher matcher = ID.matcher(feed);
    while (matcher.find()) {
      ids.add(matcher.group(1));
    }
    return ids;
  }

  @Test
  void rows_of_matching_documents_and_a_last_sequence_behind_all() {
    db.put("a", null, "{\"type\":\"order\",\"sum\":5}");
    db.put("b", null, "{\"type\":\"bill\",\"sum\":7}");
    db.put("c", null, "{\"type\":\"order\",\"sum\":9}");
    RevisionId last = db.put("d", null, "{\"sum\":{\"of\":1}}");

    assertThat(matching("{'type':'order'}")).containsExactly("a", "c");
    assertThat(matching("{'type':'order','sum':{'$gt':5}}")).containsExactly("c");
    assertThat(matching("{'type':{'$exists':false}}")).containsExactly("d");
    assertThat(matching("{'sum':{'$ne':5}}")).containsExactly("b", "c", "d");
    assertThat(matching("{}")).containsExactly("a", "b", "c", "d");
    assertThat(matching("{'$and':[{'$keyMapMatch':{'$eq':'type'}}]}"))
        .containsExactly("a", "b", "c");
    String none = db.normal(selected("{'x':1}", false, false), "0", ALL, false);
    assertThat(none).startsWith("{\"results\":[\n\n],\n").endsWith("\"pending\":0}\n");
    assertThat(none).contains(db.changes.updateSequence(db.name).orElseThrow().toString());
    assertThat(matching("{'_rev':'" + last + "'}")).containsExactly("d");
    assertThat(matching("{'_id':{'$in':['a','d']}}")).containsExactly("a", "d");
    assertThat(matching("{'$or':[{'_id':'b'},{'sum':9}]}")).containsExactly("b", "c");
  }

  @Test
  void tombstones_are_matched_by_what_they_keep() {
    RevisionId a = db.put("a", null, "{\"v\":1}");
    RevisionId b = db.put("b", null, "{\"v\":1}");
    db.put("c", null, "{\"v\":1}");
    db.put("a", a, "{\"_deleted\":true}");
    db.put("b", b, "{\"_deleted\":true,\"v\":1}");

    assertThat(matching("{'v':1}")).containsExactly("c", "b");
    assertThat(matching("{'_deleted':true}")).containsExactly("a", "b");
    assertThat(matching("{'v':1,'_deleted':{'$exists':false}}")).containsExactly("c");
    assertThat(matching("{}")).containsExactly("c", "a", "b");
  }

  @Test
  void each_leaf_is_matched_where_all_are_shown() {
    db.replicate("a", "2-b", "{\"v\":1}");
    db.replicate("a", "1-c", "{\"v\":2}");
    db.replicate("a", "3-d", "{\"v\":1,\"_deleted\":true}");

    FeedOptions ones = selected("{'v':1}", true, false);
    assertThat(db.normal(ones, "0", ALL, false))
        .contains("\"changes\":[{\"rev\":\"2-b\"},{\"rev\":\"3-d\"}]");
    FeedOptions losers = selected("{'v':2}", true, true);
    assertThat(db.normal(losers, "0", ALL, false))
        .contains("\"changes\":[{\"rev\":\"1-c\"}]")
        .contains("\"doc\":{\"_id\":\"a\",\"_rev\":\"2-b\",\"v\":1,\"_conflicts\":[\"1-c\"]}");
    assertThat(matching("{'v':2}")).as("only the winner").isEmpty();
  }

  @Test
  void documents_are_narrowed_to_fields() {
    db.replicate("a", "2-b", "{\"v\":{\"x\":[1,2],\"y\":3},\"w\":4,\"u\":{}}");
    db.replicate("a", "1-c", "{}");

    assertThat(doc("v.x.1", "u")).isEqualTo("{\"u\":{},\"v\":{\"x\":{\"1\":2}}}");
    assertThat(doc("_id", "w")).isEqualTo("{\"_id\":\"a\",\"w\":4}");
    assertThat(doc("_rev", "_id", "none")).isEqualTo("{\"_id\":\"a\",\"_rev\":\"2-b\"}");
    assertThat(doc("_conflicts", "_deleted")).isEqualTo("{\"_conflicts\":[\"1-c\"]}");
    assertThat(doc("none")).isEqualTo("{}");
    assertThat(doc("v", "v.y")).isEqualTo("{\"v\":{\"x\":[1,2],\"y\":3}}");
  }

  private String doc(String... fields) {
    String feed = db.normal(selected("{}", false, true, fields), "0", ALL, false);
    int from = feed.indexOf("\"doc\":") + "\"doc\":".length();
    return feed.substring(from, feed.indexOf("}\n],", from));
  }

  @Test
  void pages_limits_and_both_directions() {
    db.putAll("d", 300);
    FeedOptions options = selected("{'v':{'$mod':[7,0]}}", false, true);
    List<String> expected =
        IntStream.range(0, 300).filter(i -> i % 7 == 0).mapToObj(i -> "d" + i).toList();

    ChangesReader small = SmallPages.of(db, 11, 400);
    assertThat(ids(db.normal(small, options, "0", ALL, false))).isEqualTo(expected);
    assertThat(ids(db.normal(options, "0", ALL, false))).isEqualTo(expected);
    List<String> newest = new ArrayList<>(expected);
    Collections.reverse(newest);
    assertThat(ids(db.normal(small, options, "0", ALL, true))).isEqualTo(newest);
    for (int limit : new int[] {0, 1, 2, 42, 43, 44}) {
      String feed = db.normal(small, options, "0", limit, false);
      assertThat(ids(feed)).isEqualTo(expected.subList(0, Math.min(limit, expected.size())));
      assertThat(ids(db.normal(small, options, lastSequence(feed), ALL, false)))
          .isEqualTo(expected.subList(Math.min(limit, expected.size()), expected.size()));
    }
  }

  private static String lastSequence(String feed) {
    int from = feed.indexOf("\"last_seq\":\"") + "\"last_seq\":\"".length();
    return feed.substring(from, feed.indexOf('"', from));
  }

  @Test
  void a_page_ends_where_it_has_read_much_and_the_next_goes_on() {
    String array =
        IntStream.range(0, 4_000)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(",", "{\"a\":[", "]}"));
    for (int i = 0; i < 80; i++) {
      db.put("d" + i, null, array);
    }
    FeedOptions options = selected("{'a':{'$all':[-1]}}", false, false);
    JsonBuffer out = new JsonBuffer(64);
    DatabaseReads reads =
        new DatabaseReads(db.catalogue, db.transactions, DatabaseRequest.byServer(db.name));
    FeedPage page = db.changes.page(reads, options, FeedPosition.BEGINNING, ALL, false, out);
    assertThat(page.reachedEnd()).isFalse();
    assertThat(page.next().entriesLookedAt()).isBetween(1L, 79L);
    assertThat(db.normal(options, "0", ALL, false))
        .contains(db.changes.updateSequence(db.name).orElseThrow().toString());
    assertThat(matching("{'a':{'$size':4000}}")).hasSize(80);
  }

  /** Each page reads ahead more documents than it has time for if the store's time counts. */
  @Test
  void a_page_on_a_store_that_answers_slowly_matches_more_than_one_document() {
    db.putAll("d", 12);
    Store slow = new DistantStore(store, Duration.ofMillis(80)).store();
    TransactionRunner transactions = new TransactionRunner(slow, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(slow, transactions, InstantSource.system());
    DatabaseReads reads =
        new DatabaseReads(catalogue, transactions, DatabaseRequest.byServer(db.name));
    ChangesReader changes = new ChangesReader(catalogue, transactions, FeedRights.DEFAULT);
    FeedOptions options = selected("{'v':-1}", false, false);
    FeedPosition position = FeedPosition.BEGINNING;
    int pages = 0;
    boolean reachedEnd = false;
    while (!reachedEnd) {
      FeedPage page = changes.page(reads, options, position, ALL, false, new JsonBuffer(64));
      position = page.next();
      reachedEnd = page.reachedEnd();
      pages++;
    }

    assertThat(pages).isLessThan(7);
  }

  @Test
  void a_selector_of_many_fields_and_conditions() {
    db.put("a", null, "{\"f7\":1,\"f70\":2}");
    db.put("b", null, "{\"f7\":1}");
    String either =
        IntStream.range(0, 9_000)
            .mapToObj(i -> "{'f" + i + "':2}")
            .collect(Collectors.joining(",", "{'$or':[", "]}"));
    assertThat(matching(either)).containsExactly("a");
    assertThat(matching("{'$and':[{'_id':'b'},{'$nor':[" + either + "]}]}")).isEmpty();
  }

  @Test
  void equal_selectors_make_equal_options() {
    assertThat(selected("{'a':1,'b':2}", true, false))
        .isEqualTo(selected("{'b':2,'a':1}", true, false))
        .hasSameHashCodeAs(selected("{'b':2,'a':1}", true, false))
        .isNotEqualTo(selected("{'b':2,'a':3}", true, false));
  }

  /** A document that left one of several channels is looked up: it may be in another. */
  @Test
  void documents_that_left_are_looked_up_as_long_as_one_transaction_has_time() {
    new FeedCatalogue(db.catalogue, db.transactions, new FillingJobs(store.rootPrefix()))
        .put(db.name, FeedDefinition.ofChannels("f", "ch"));
    for (int i = 0; i < DOCUMENTS; i++) {
      RevisionId first = db.put("d" + i, null, "{\"ch\":\"a\"}");
      db.put("d" + i, first, "{\"ch\":\"b\"}");
    }
    Store slow = new DistantStore(store, Duration.ofMillis(80)).store();
    TransactionRunner transactions = new TransactionRunner(slow, TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(slow, transactions, InstantSource.system());
    FeedFilter filter = new FeedFilter.OfFeed("f", Set.of("a", "c"), true, Optional.empty());
    FeedOptions options = new FeedOptions(false, false, true, filter, 1, List.of());

    FeedPage page =
        new ChangesReader(catalogue, transactions, FeedRights.DEFAULT)
            .page(
                new DatabaseReads(catalogue, transactions, DatabaseRequest.byServer(db.name)),
                options,
                FeedPosition.BEGINNING,
                ChangesReader.NO_LIMIT,
                false,
                new JsonBuffer(64));

    assertThat(page.reachedEnd()).isFalse();
    assertThat(page.next()).isNotEqualTo(FeedPosition.BEGINNING);
  }
}
