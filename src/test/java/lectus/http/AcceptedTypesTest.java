package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import lectus.error.LectusException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CouchDB 3.5.2's decisions, except for headers that it answers with 500. */
final class AcceptedTypesTest {
  private static final String JSON = "application/json";
  private static final String MIXED = "multipart/mixed";
  private static final String RELATED = "multipart/related";
  private static final Instant DAY_OF_ONE_DIGIT = Instant.parse("2026-11-03T04:05:06Z");

  @Test
  void without_the_header_everything_is_taken() {
    AcceptedTypes all = AcceptedTypes.of(List.of());

    assertThat(List.of(JSON, MIXED, RELATED)).allMatch(all::include);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "*/*                             | true  | true  | true",
        "application/json                | true  | false | false",
        "text/html                       | false | false | false",
        "multipart/mixed                 | false | true  | false",
        "multipart/related               | false | false | true",
        "multipart/*                     | false | true  | true",
        "MULTIPART/MIXED                 | false | true  | false",
        "application/json, */*;q=0.1     | true  | true  | true",
        "application/json, multipart/mixed;q=0.001 | true | true | false",
        "application/json;q=0, */*       | false | true  | true",
        "multipart/mixed;q=0             | false | false | false",
        "multipart/*;q=0, */*            | true  | false | false",
        "multipart/*;q=0, multipart/mixed| false | false | false",
        "multipart/mixed;q=0.00, */*     | true  | false | true",
        "*/*;q=0                         | false | false | false",
        "*/*;q=0, multipart/mixed        | false | true  | false",
        "*/* ; q = 0.5                   | true  | true  | true",
        "multipart/mixed;level=1         | false | false | false",
        "application/json;charset=utf-8  | false | false | false",
        "text/html,,*/*                  | true  | true  | true",
        "garbage;;                       | false | false | false",
        "*                               | false | false | false",
        "application/json;;q=1           | true  | false | false",
      })
  void types_are_accepted_by_couchdbs_rules(
      String accept, boolean json, boolean mixed, boolean related) {
    assertTaken(AcceptedTypes.of(List.of(accept)), json, mixed, related);
  }

  @Test
  void an_empty_header_takes_nothing() {
    assertTaken(AcceptedTypes.of(List.of("")), false, false, false);
  }

  @Test
  void several_headers_are_one_list() {
    assertTaken(AcceptedTypes.of(List.of("text/html, application/json", MIXED)), true, true, false);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json;q=.2",
        "application/json;q=1.001",
        "application/json;q=0.1234",
        "application/json;q=2",
        "application/json;q=",
        "application/json;charset",
        "text/html;q=x, application/json",
      })
  void what_cannot_be_read_says_nothing(String accept) {
    assertTaken(AcceptedTypes.of(List.of(accept)), true, true, true);
  }

  private static void assertTaken(
      AcceptedTypes accepted, boolean json, boolean mixed, boolean related) {
    assertThat(accepted.include(JSON)).as(JSON).isEqualTo(json);
    assertThat(accepted.include(MIXED)).as(MIXED).isEqualTo(mixed);
    assertThat(accepted.include(RELATED)).as(RELATED).isEqualTo(related);
  }

  @Test
  void of_a_name_that_comes_twice_the_last_one_stands() {
    QueryParameters query = QueryParameters.parse("b=1&&a=x+%C3%BC&b=2&c");

    assertThat(query.asMap()).containsExactly(entry("a", "x ü"), entry("b", "2"), entry("c", ""));
    assertThat(query.get("none")).isNull();
  }

  @Test
  void a_value_that_is_no_utf8_is_refused_where_it_is_asked_for() {
    QueryParameters query = QueryParameters.parse("a=1&x=%FF&%FE=2");

    assertThat(query.get("a")).isEqualTo("1");
    assertThat(query.isTrue("x")).isFalse();
    assertRefused(() -> query.get("x"));
    assertRefused(() -> query.text("x"));
    assertRefused(() -> query.flag("x", true));
    assertRefused(() -> query.count("x"));
    assertRefused(() -> query.number("x", 0, "no number"));
    assertRefused(query::asMap);
    assertRefused(() -> QueryParameters.parse("X=%FF").inLowerCase().get("x"));
  }

  @Test
  void the_last_value_counts_whether_it_can_be_read_or_not() {
    assertThat(QueryParameters.parse("x=%FF&x=1").get("x")).isEqualTo("1");
    assertRefused(() -> QueryParameters.parse("x=1&x=%FF").get("x"));
  }

  @Test
  void what_is_not_percent_encoded_is_refused_at_once() {
    assertThatThrownBy(() -> QueryParameters.parse("x=%F"))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("invalid_url_encoding");
  }

  private static Map.Entry<String, String> entry(String name, String value) {
    return Map.entry(name, value);
  }

  private static void assertRefused(ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("The URL is not UTF-8.");
  }

  @Test
  void a_day_has_two_digits() {
    assertThat(HttpDate.format(DAY_OF_ONE_DIGIT)).isEqualTo("Tue, 03 Nov 2026 04:05:06 GMT");
  }

  @Test
  void what_was_sent_is_understood() {
    assertThat(HttpDate.parse("Tue, 03 Nov 2026 04:05:06 GMT")).contains(DAY_OF_ONE_DIGIT);
    assertThat(HttpDate.parse("yesterday")).isEmpty();
    assertThat(HttpDate.parse("")).isEmpty();
  }
}
