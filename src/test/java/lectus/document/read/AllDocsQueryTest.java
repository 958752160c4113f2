package lectus.document.read;

import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.document.read.AllDocsQuery.ListKey;
import lectus.document.read.AllDocsQuery.Listing;
import lectus.error.LectusError;
import lectus.error.LectusException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parameters of lists, with CouchDB's sentences for malformed ones. */
class AllDocsQueryTest {
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
    assertThat(range("startkey_docid", "b", "startkey", "\"a\"").start()).contains(ListKey.of("a"));
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
        () -> AllDocsQuery.parse(Listing.ALL, Map.of("key", "\"a\""), utf8("{\"keys\":[\"b\"]}")));
    assertThat(AllDocsQuery.parse(Listing.ALL, two, utf8("{}")).keys())
        .contains(List.of(ListKey.of("a"), ListKey.of("b")));
    assertThat(AllDocsQuery.parse(Listing.ALL, one, utf8("{}")).start()).contains(ListKey.of("a"));
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
