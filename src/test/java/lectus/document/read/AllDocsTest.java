package lectus.document.read;

import static lectus.document.testing.Answers.whole;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lectus.database.DatabaseRequest;
import lectus.database.testing.TestLayout;
import lectus.document.PagedBody;
import lectus.document.RowParts.PageLimits;
import lectus.document.edit.Edit;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.read.AllDocsQueryTest.Parameters;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code _all_docs} and its relatives, byte for byte. */
class AllDocsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final AllDocs lists = new AllDocs(db.catalogue, db.transactions);

  private RevisionId tombstone;

  @BeforeEach
  void write() {
    db.replicate("a", "{\"v\":1}", "3-x");
    db.replicate("b", "{\"v\":2}", "2-b");
    db.replicate("b", "{\"v\":3}", "2-c");
    db.replicate("b", "{\"_deleted\":true,\"left\":1}", "9-d");
    db.replicate("_design/dd", "{}", "1-d");
    tombstone = db.delete("e", db.put("e", "{}"));
    db.replicate("g", "{\"_deleted\":true,\"left\":2}", "1-g");
  }

  private static String row(String id, String revision) {
    return "{\"id\":\"%s\",\"key\":\"%s\",\"value\":{\"rev\":\"%s\"}}".formatted(id, id, revision);
  }

  private static String row(String id, String revision, String doc) {
    return "{\"id\":\"%s\",\"key\":\"%s\",\"value\":{\"rev\":\"%s\"},\"doc\":%s}"
        .formatted(id, id, revision, doc);
  }

  private static String answer(String head, String... rows) {
    return "{\"total_rows\":" + head + ",\"rows\":[\r\n" + String.join(",\r\n", rows) + "\r\n]}\n";
  }

  private static final String DD = row("_design/dd", "1-d");
  private static final String A = row("a", "3-x");
  private static final String B = row("b", "2-c");

  @Test
  void all_rows() {
    assertThat(get()).isEqualTo(answer("3,\"offset\":0", DD, A, B));
    assertThat(get("descending", "true")).isEqualTo(answer("3,\"offset\":0", B, A, DD));
  }

  @Test
  void no_rows_are_an_empty_line() {
    assertThat(get("limit", "0")).isEqualTo(answer("3,\"offset\":0", ""));
    assertThat(get("startkey", "\"x\"")).isEqualTo(answer("3,\"offset\":3", ""));
    assertThat(get("startkey", "\"b\"", "endkey", "\"a\"")).isEqualTo(answer("3,\"offset\":2", ""));
  }

  @Test
  void offset_counts_the_rows_before() {
    assertThat(get("startkey", "\"b\"")).isEqualTo(answer("3,\"offset\":2", B));
    assertThat(get("skip", "1", "limit", "1")).isEqualTo(answer("3,\"offset\":1", A));
    assertThat(get("skip", "9")).isEqualTo(answer("3,\"offset\":3", ""));
    assertThat(get("start_key", "\"a\"", "skip", "1")).isEqualTo(answer("3,\"offset\":2", B));
    assertThat(get("startkey", "\"a\"", "descending", "true"))
        .isEqualTo(answer("3,\"offset\":1", A, DD));
  }

  @Test
  void offset_is_counted_up_to_a_thousand_rows_and_estimated_beyond() {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < 1_200; i++) {
      edits.add(TestDatabase.edit("n%04d".formatted(i), null, "{}"));
    }
    db.write(edits);

    // Three rows lie before the first of these.
    assertThat(get("startkey", "\"n0996\"", "limit", "0"))
        .startsWith("{\"total_rows\":1203,\"offset\":999,");
    assertThat(offset(get("startkey", "\"n0997\"", "limit", "0"))).isBetween(1_000L, 1_203L);
    assertThat(offset(get("startkey", "\"n1199\"", "limit", "0", "skip", "5")))
        .isBetween(1_005L, 1_203L);
  }

  private static long offset(String answer) {
    int digits = answer.indexOf("\"offset\":") + "\"offset\":".length();
    return Long.parseLong(answer.substring(digits, answer.indexOf(',', digits)));
  }

  @Test
  void rows_are_skipped_over_many_transactions() {
    List<Edit> edits = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      edits.add(TestDatabase.edit("n%04d".formatted(i), null, "{}"));
    }
    db.write(edits);
    AllDocs pageByPage = new AllDocs(db.catalogue, db.transactions, new PageLimits(1, 1, 1));

    for (int skip : new int[] {0, 49, 50, 51, 100, 152, 153, 154}) {
      AllDocsQuery query =
          AllDocsQuery.parse(Listing.ALL, Map.of("skip", "" + skip, "limit", "2"), null);
      assertThat(whole(pageByPage.answer(DatabaseRequest.byServer(db.name), query)))
          .isEqualTo(whole(lists.answer(DatabaseRequest.byServer(db.name), query)));
    }
    assertThat(get("skip", "152")).contains("\"id\":\"n0149\"");
  }

  @Test
  void ranges_are_inclusive_unless_told_otherwise() {
    assertThat(get("startkey", "\"a\"", "endkey", "\"b\""))
        .endsWith(answer("3,\"offset\":1", A, B));
    assertThat(get("startkey", "\"a\"", "end_key", "\"b\"", "inclusive_end", "false"))
        .isEqualTo(answer("3,\"offset\":1", A));
    assertThat(
            get(
                "startkey",
                "\"b\"",
                "endkey",
                "\"a\"",
                "inclusive_end",
                "false",
                "descending",
                "true"))
        .isEqualTo(answer("3,\"offset\":0", B));
    assertThat(get("key", "\"a\"")).isEqualTo(answer("3,\"offset\":1", A));
    assertThat(get("key", "\"a\"", "inclusive_end", "false"))
        .isEqualTo(answer("3,\"offset\":1", ""));
    assertThat(get("startkey_docid", "b")).isEqualTo(answer("3,\"offset\":2", B));
    assertThat(get("endkey_docid", "a", "descending", "true"))
        .isEqualTo(answer("3,\"offset\":0", B, A));
    assertThat(get("key", "\"e\"")).isEqualTo(answer("3,\"offset\":3", ""));
  }

  @Test
  void keys_that_are_no_strings_match_nothing() {
    assertThat(get("key", "5")).isEqualTo(answer("3,\"offset\":0", ""));
    assertThat(get("keys", "[5,null,{\"x\":[1.0]}]"))
        .isEqualTo(
            answer(
                "3,\"offset\":null",
                json("{'key':5,'error':'not_found'}"),
                json("{'key':null,'error':'not_found'}"),
                json("{'key':{'x':[1.0]},'error':'not_found'}")));
  }

  @Test
  void bounds_that_are_no_strings_lie_before_all_ids() {
    assertThat(get("startkey", "null")).isEqualTo(answer("3,\"offset\":0", DD, A, B));
    assertThat(get("endkey", "{}")).isEqualTo(answer("3,\"offset\":0", ""));
    assertThat(get("endkey", "1", "descending", "true"))
        .isEqualTo(answer("3,\"offset\":0", B, A, DD));
  }

  @Test
  void keys_give_rows_in_their_order_with_tombstones() {
    String e = json("{'id':'e','key':'e','value':{'rev':'%s','deleted':true}").formatted(tombstone);
    String none = "{\"key\":\"none\",\"error\":\"not_found\"}";

    assertThat(get("keys", "[\"b\",\"none\",\"e\",\"a\",\"b\"]"))
        .isEqualTo(answer("3,\"offset\":null", B, none, e + "}", A, B));
    assertThat(get("keys", json("['b','none','e']"), "include_docs", "true"))
        .isEqualTo(
            answer(
                "3,\"offset\":null",
                row("b", "2-c", json("{'_id':'b','_rev':'2-c','v':3}")),
                none,
                e + ",\"doc\":null}"));
    assertThat(
            get(
                "keys",
                json("['b','none','e','a']"),
                "descending",
                "true",
                "skip",
                "1",
                "limit",
                "2"))
        .isEqualTo(answer("3,\"offset\":null", e + "}", none));
    assertThat(get("keys", "[]")).isEqualTo(answer("3,\"offset\":null", ""));
  }

  @Test
  void include_docs_passes_over_losers_and_bodies_of_tombstones() {
    String dd = row("_design/dd", "1-d", "{\"_id\":\"_design/dd\",\"_rev\":\"1-d\"}");
    String a = row("a", "3-x", "{\"_id\":\"a\",\"_rev\":\"3-x\",\"v\":1}");
    String b = row("b", "2-c", "{\"_id\":\"b\",\"_rev\":\"2-c\",\"v\":3}");

    assertThat(get("include_docs", "true")).isEqualTo(answer("3,\"offset\":0", dd, a, b));
    assertThat(get("include_docs", "true", "descending", "true"))
        .isEqualTo(answer("3,\"offset\":0", b, a, dd));
  }

  @Test
  void conflicts_are_added_to_bodies() {
    String b = row("b", "2-c", "{\"_id\":\"b\",\"_rev\":\"2-c\",\"v\":3,\"_conflicts\":[\"2-b\"]}");

    assertThat(get("include_docs", "true", "conflicts", "true", "startkey", "\"b\""))
        .isEqualTo(answer("3,\"offset\":2", b));
    assertThat(get("keys", "[\"b\"]", "include_docs", "true", "conflicts", "true"))
        .isEqualTo(answer("3,\"offset\":null", b));
    assertThat(get("key", "\"b\"", "conflicts", "true")).isEqualTo(answer("3,\"offset\":2", B));
  }

  @Test
  void update_seq_stands_behind_the_offset() {
    String last = db.changes().get(db.changes().size() - 1).sequence().toString();

    assertThat(get("update_seq", "true", "limit", "1"))
        .isEqualTo(answer("3,\"offset\":0,\"update_seq\":\"" + last + "\"", DD));
    assertThat(get("update_seq", "true", "keys", "[\"a\"]"))
        .isEqualTo(answer("3,\"offset\":null,\"update_seq\":null", A));
  }

  @Test
  void empty_database_has_update_seq_zero() {
    TestDatabase empty = TestDatabase.create(stores.fresh());

    assertThat(
            whole(
                new AllDocs(empty.catalogue, empty.transactions)
                    .answer(
                        DatabaseRequest.byServer(empty.name),
                        AllDocsQuery.parse(Listing.ALL, Map.of("update_seq", "true"), null))))
        .isEqualTo(answer(json("0,'offset':0,'update_seq':'0'"), ""));
  }

  @Test
  void design_docs_are_a_list_of_their_own() {
    db.replicate("_design/zz", "{}", "1-z");

    assertThat(list(Listing.DESIGN))
        .isEqualTo(answer("2,\"offset\":0", DD, row("_design/zz", "1-z")));
    assertThat(list(Listing.DESIGN, "descending", "true"))
        .isEqualTo(answer("2,\"offset\":0", row("_design/zz", "1-z"), DD));
    assertThat(list(Listing.DESIGN, "endkey", "\"z\"", "limit", "1"))
        .isEqualTo(answer("2,\"offset\":0", DD));
    assertThat(list(Listing.DESIGN, "startkey", "\"a\"")).isEqualTo(answer("2,\"offset\":2", ""));
    assertThat(list(Listing.DESIGN, "keys", "[\"a\",\"_design/zz\",\"none\"]"))
        .as("keys that it cannot have are no rows")
        .isEqualTo(answer("2,\"offset\":null", row("_design/zz", "1-z")));
  }

  @Test
  void several_queries_in_one_answer() {
    List<AllDocsQuery> queries =
        AllDocsQuery.parseQueries(
            Listing.ALL,
            Map.of(),
            TestDatabase.utf8(
                json("{'queries':[{'keys':['a','none']},{'limit':1,'descending':true}]}")));

    assertThat(whole(lists.answers(DatabaseRequest.byServer(db.name), queries)))
        .isEqualTo(
            "{\"results\":[\r\n"
                + answer("3,\"offset\":null", A, json("{'key':'none','error':'not_found'}")).trim()
                + ",\r\n"
                + answer("3,\"offset\":0", B).trim()
                + "\r\n]}\n");
    assertThat(whole(lists.answers(DatabaseRequest.byServer(db.name), List.of())))
        .isEqualTo("{\"results\":[\r\n]}\n");
  }

  @Test
  void answer_ends_when_the_database_is_another_one() {
    AllDocs pageByPage = new AllDocs(db.catalogue, db.transactions, new PageLimits(1, 1, 1));
    PagedBody answer =
        pageByPage.answer(
            DatabaseRequest.byServer(db.name), AllDocsQuery.parse(Listing.ALL, Map.of(), null));
    assertThat(answer.appendNext(new JsonBuffer(64))).isTrue();

    db.catalogue.delete(db.name);
    db.catalogue.create(db.name, TestLayout.OPTIONS);
    db.put("b", "{}");

    assertThatThrownBy(() -> answer.appendNext(new JsonBuffer(64)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("Database does not exist.");
  }

  private String get(String... parameters) {
    return list(Listing.ALL, parameters);
  }

  private String list(Listing listing, String... parameters) {
    return whole(
        lists.answer(
            DatabaseRequest.byServer(db.name),
            AllDocsQuery.parse(listing, Parameters.of(parameters), null)));
  }
}
