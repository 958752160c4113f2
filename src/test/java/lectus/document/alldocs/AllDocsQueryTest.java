package lectus.document.alldocs;

import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Optional;
import lectus.document.alldocs.AllDocsQuery.Listing;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parameters of lists, with CouchDB's sentences for those that cannot be read. */
class AllDocsQueryTest {
  @Test
  void defaults() {
    AllDocsQuery query = AllDocsQuery.all(Listing.ALL);

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
                Optional.empty()));
  }

  @Test
  void body_counts_more_than_the_query() {
    AllDocsQuery query =
        AllDocsQuery.parse(
            Listing.ALL,
            Map.of("limit", "5", "skip", "1", "unknown", "x"),
            utf8("{\"limit\":7,\"descending\":\"true\",\"include_docs\":true,\"other\":[]}"));

    assertThat(query.limit()).isEqualTo(7);
    assertThat(query.skip()).isEqualTo(1);
    assertThat(query.descending()).isTrue();
    assertThat(query.includeDocs()).isTrue();
  }

  @Test
  void key_is_both_ends_of_the_range() {
    AllDocsQuery query =
        AllDocsQuery.parse(Listing.ALL, Map.of("key", "\"a\"", "startkey", "\"x\""), null);

    ListKey a = new ListKey(new JsonValue.JsonString("a"));
    assertThat(query.start()).contains(a);
    assertThat(query.end()).contains(a);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "descending   | maybe  | Invalid boolean parameter: \"maybe\"",
        "include_docs | 1      | Invalid boolean parameter: \"1\"",
        "limit        | x      | Invalid value for integer: \"x\"",
        "limit        | 1.5    | Invalid value for integer: \"1.5\"",
        "skip         | -1     | Invalid value for positive integer: \"-1\"",
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
  void keys_are_json() {
    assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of("startkey", "abc"), null))
        .hasMessageContaining("query_parse_error")
        .hasMessageContaining("startkey");
    assertThatThrownBy(() -> AllDocsQuery.parse(Listing.ALL, Map.of("keys", "\"abc\""), null))
        .hasMessageContaining("must be an array");
    assertThatThrownBy(
            () ->
                AllDocsQuery.parse(Listing.ALL, Map.of("key", "\"a\""), utf8("{\"keys\":[\"b\"]}")))
        .hasMessageContaining("`keys` is incompatible with `key`");
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
        .hasMessageContaining("`queries` member must be an array.");
    assertThatThrownBy(
            () -> AllDocsQuery.parseQueries(Listing.ALL, Map.of(), utf8("{\"queries\":[1]}")))
        .isInstanceOf(LectusException.class);
  }
}
