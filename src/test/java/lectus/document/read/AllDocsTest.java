package lectus.document.read;

import static lectus.document.testing.Answers.whole;
import static lectus.document.testing.TestDatabase.utf8;
import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseRequest;
import lectus.database.testing.TestLayout;
import lectus.document.PagedBody;
import lectus.document.RowParts.PageLimits;
import lectus.document.edit.Edit;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code _all_docs} and its relatives, byte for byte, and their parameters. */
final class AllDocsTest {
  @Nested
  class Answers {
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
      return "{\"id\":\"%s\",\"key\":\"%s\",\"value\":{\"rev\":\"%s\"}}"
          .formatted(id, id, revision);
    }

    private static String row(String id, String revision, String doc) {
      return "{\"id\":\"%s\",\"key\":\"%s\",\"value\":{\"rev\":\"%s\"},\"doc\":%s}"
          .formatted(id, id, revision, doc);
    }

    private static String answer(String head, String... rows) {
      return "{\"total_rows\":"
          + head
          + ",\"rows\":[\r\n"
          + String.join(",\r\n", rows)
          + "\r\n]}\n";
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
      assertThat(get("startkey", "\"b\"", "endkey", "\"a\""))
          .isEqualTo(answer("3,\"offset\":2", ""));
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
      String e =
          json("{'id':'e','key':'e','value':{'rev':'%s','deleted':true}").formatted(tombstone);
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
      String b =
          row("b", "2-c", "{\"_id\":\"b\",\"_rev\":\"2-c\",\"v\":3,\"_conflicts\":[\"2-b\"]}");

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
                  + answer("3,\"offset\":null", A, json("{'key':'none','error':'not_found'}"))
                      .trim()
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
              AllDocsQuery.parse(listing, Queries.Parameters.of(parameters), null)));
    }
  }

  /** Parameters of lists, with CouchDB's sentences for malformed ones. */
  @Nested
  class Queries {
    @Test
    void defaults() {
      AllDocsQuery query = AllDocsQuery.parse(Listing.ALL, Map.of(), null);

      assertThat(query)
          .isEqualTo(
              new AllDocsQuery(
                  Listing.ALL,
                  Optional.empty(),
                  Optional.empty(),
                  Optional.empty(),
                  true,
                  false,
                  0,
                  Long.MAX_VALUE,
                  false,
                  false,
                  false,
                  lectus.document.AttachmentsShown.STUBS,
                  Optional.empty()));
    }

    @Test
    void the_url_counts_more_than_the_body() {
      AllDocsQuery query =
          AllDocsQuery.parse(
              Listing.ALL,
              Map.of("limit", "5", "skip", "1", "unknown", "x"),
              utf8("{\"limit\":7,\"descending\":\"true\",\"include_docs\":true,\"other\":[]}"));

      assertThat(query.limit()).isEqualTo(5);
      assertThat(query.skip()).isEqualTo(1);
      assertThat(query.descending()).isTrue();
      assertThat(query.includeDocs()).isTrue();
    }

    @Test
    void several_questions_count_more_than_the_url_and_have_keys_of_their_own() {
      List<AllDocsQuery> queries =
          AllDocsQuery.parseQueries(
              Listing.ALL,
              Parameters.of("limit", "5", "keys", "[\"a\",\"b\"]", "group", "true"),
              utf8("{\"queries\":[{\"limit\":7},{\"keys\":[\"x\",\"y\"]},{\"keys\":[\"x\"]}]}"));

      assertThat(queries.get(0).limit()).isEqualTo(7);
      assertThat(queries.get(0).keys()).isEmpty();
      assertThat(queries.get(1).limit()).isEqualTo(5);
      assertThat(queries.get(1).keys()).contains(List.of(ListKey.of("x"), ListKey.of("y")));
      assertThat(queries.get(2).keys()).isEmpty();
      assertThat(queries.get(2).start()).contains(ListKey.of("x"));
    }

    @Test
    void of_two_that_say_where_a_range_begins_the_last_one_counts() {
      ListKey a = ListKey.of("a");
      ListKey x = ListKey.of("x");
      AllDocsQuery keyLast = range("startkey", "\"x\"", "key", "\"a\"");
      AllDocsQuery startLast = range("key", "\"a\"", "start_key", "\"x\"");

      assertThat(keyLast.start()).contains(a);
      assertThat(keyLast.end()).contains(a);
      assertThat(startLast.start()).contains(x);
      assertThat(startLast.end()).contains(a);
      assertThat(range("key", "\"a\"", "inclusive_end", "false").inclusiveEnd()).isFalse();
    }

    @Test
    void the_id_of_a_views_row_bounds_a_range_that_has_no_other_bound() {
      AllDocsQuery ids = range("startkey_docid", "b", "end_key_doc_id", "\"c\"");
      assertThat(ids.start()).contains(ListKey.of("b"));
      assertThat(ids.end()).as("an id is no JSON").contains(ListKey.of("\"c\""));
      assertThat(range("startkey_docid", "b", "startkey", "\"a\"").start())
          .contains(ListKey.of("a"));
      assertThat(range("startkey_docid", "b", "partition", "p").start()).isEmpty();
    }

    private static AllDocsQuery range(String... parameters) {
      return AllDocsQuery.parse(Listing.ALL, Parameters.of(parameters), null);
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '~',
        value = {
          "descending   | maybe  | Invalid boolean parameter: \"maybe\"",
          "include_docs | 1      | Invalid boolean parameter: \"1\"",
          "limit        | x      | Invalid value for integer: \"x\"",
          "limit        | 1.5    | Invalid value for integer: \"1.5\"",
          "limit        | ~~     | Invalid value for integer: []",
          "skip         | -1     | Invalid value for positive integer: \"-1\"",
          "group        | true   | Invalid use of grouping on a map view.",
          "group        | maybe  | Invalid boolean parameter: \"maybe\"",
          "group_level  | 1      | Invalid use of grouping on a map view.",
          "reduce       | true   | Reduce is invalid for map-only views.",
          "stale        | x      | Invalid value for `stale`.",
          "stable       | x      | Invalid value for `stable`.",
          "update       | x      | Invalid value for `update`.",
          "sorted       | x      | Invalid boolean parameter: \"x\"",
        })
    void unparsable_values(String name, String value, String reason) {
      assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of(name, value), null))
          .isInstanceOfSatisfying(
              LectusException.class,
              e ->
                  assertThat(e.error())
                      .isEqualTo(new LectusError.BadRequest("query_parse_error", reason)));
    }

    @Test
    void an_error_repeats_a_thousand_characters_at_most() {
      String longest = "x".repeat(1_000);
      for (String name : List.of("limit", "descending")) {
        assertThatThrownBy(() -> ofBody("{\"" + name + "\":\"" + longest + "\"}"))
            .hasMessageContaining(longest + "\"");
        assertThatThrownBy(() -> ofBody("{\"" + name + "\":\"" + longest + "yy\"}"))
            .hasMessageContaining(longest + "…\"");
        assertThatThrownBy(() -> range(name, longest + "yy")).hasMessageContaining(longest + "…\"");
      }
    }

    private static AllDocsQuery ofBody(String json) {
      byte[] body = json.getBytes(StandardCharsets.UTF_8);
      return AllDocsQuery.parse(Listing.ALL, Map.of(), body);
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '~',
        value = {
          "{\"limit\":\"1\"}       | Invalid value for integer: <<\"1\">>",
          "{\"limit\":1.5}         | Invalid value for integer: 1.5",
          "{\"limit\":true}        | Invalid value for integer: true",
          "{\"limit\":-1}          | Invalid value for positive integer: -1",
          "{\"descending\":\"x\"}  | Invalid boolean parameter: \"x\"",
          "{\"descending\":1}      | Invalid boolean parameter: 1",
          "{\"stale\":1}           | Invalid value for `stale`.",
          "{\"group\":true}        | Invalid use of grouping on a map view.",
        })
    void unparsable_members(String body, String reason) {
      assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of(), utf8(body)))
          .isInstanceOfSatisfying(
              LectusException.class,
              e ->
                  assertThat(e.error())
                      .isEqualTo(new LectusError.BadRequest("query_parse_error", reason)));
    }

    @Test
    void keys_come_in_the_url_or_in_the_body() {
      Map<String, String> one = Map.of("keys", "[\"a\"]");
      Map<String, String> two = Map.of("keys", "[\"a\",\"b\"]");

      for (String body : List.of("[\"a\"]", "[\"b\"]", "[\"c\",\"d\"]", "[]")) {
        byte[] keys = utf8("{\"keys\":" + body + "}");
        assertIncompatible(() -> AllDocsQuery.parse(Listing.ALL, one, keys));
        assertIncompatible(() -> AllDocsQuery.parse(Listing.ALL, two, keys));
      }
      assertIncompatible(
          () ->
              AllDocsQuery.parse(Listing.ALL, Map.of("key", "\"a\""), utf8("{\"keys\":[\"b\"]}")));
      assertThat(AllDocsQuery.parse(Listing.ALL, two, utf8("{}")).keys())
          .contains(List.of(ListKey.of("a"), ListKey.of("b")));
      assertThat(AllDocsQuery.parse(Listing.ALL, one, utf8("{}")).start())
          .contains(ListKey.of("a"));
    }

    private static void assertIncompatible(ThrowingCallable query) {
      assertThatThrownBy(query)
          .hasMessageContaining("`keys` is incompatible with `key`, `start_key` and `end_key`");
    }

    @Test
    void keys_are_json() {
      assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of("startkey", "abc"), null))
          .isInstanceOfSatisfying(
              LectusException.class,
              e ->
                  assertThat(e.error())
                      .isEqualTo(new LectusError.BadRequest("bad_request", "invalid UTF-8 JSON")));
      assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of("keys", "\"abc\""), null))
          .hasMessageContaining("`keys` parameter must be an array");
      assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of(), utf8("{\"keys\":5}")))
          .hasMessageContaining("`keys` body member must be an array");
    }

    @ParameterizedTest
    @CsvSource({
      "group,false",
      "group_level,0",
      "reduce,false",
      "stale,ok",
      "stale,update_after",
      "stable,true",
      "update,lazy",
      "sorted,false"
    })
    void what_makes_no_difference_to_a_list_is_taken(String name, String value) {
      assertThat(range(name, value)).isEqualTo(AllDocsQuery.parse(Listing.ALL, Map.of(), null));
    }

    @Test
    void numbers_that_no_long_holds_are_as_good_as_unlimited() {
      assertThat(limit("999999999999999999")).isEqualTo(999_999_999_999_999_999L);
      assertThat(limit("1000000000000000000")).isEqualTo(Long.MAX_VALUE);
    }

    private static long limit(String text) {
      return AllDocsQuery.parse(Listing.ALL, Map.of("limit", text), null).limit();
    }

    @Test
    void malformed_bodies() {
      assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of(), utf8("[]")))
          .hasMessageContaining("Request body must be a JSON object");
      assertThatThrownBy(() -> AllDocsQuery.parseQueries(Listing.ALL, Map.of(), utf8("{}")))
          .hasMessageContaining("POST body must include `queries` parameter.");
      assertThatThrownBy(
              () -> AllDocsQuery.parseQueries(Listing.ALL, Map.of(), utf8("{\"queries\":5}")))
          .hasMessageContaining("`queries` member must be an array.");
      assertThatThrownBy(
              () -> AllDocsQuery.parseQueries(Listing.ALL, Map.of(), utf8("{\"queries\":[1]}")))
          .isInstanceOf(LectusException.class);
    }

    /** Query parameters for tests. */
    static final class Parameters {
      private Parameters() {}

      /**
       * @param namesAndValues name, value, name, value
       */
      static Map<String, String> of(String... namesAndValues) {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
          parameters.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return parameters;
      }
    }
  }
}
