package lectus.http.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import lectus.error.LectusException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Parameters are decoded once, and one that is not UTF-8 is an error only if it is asked for. */
final class QueryParametersTest {
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
}
