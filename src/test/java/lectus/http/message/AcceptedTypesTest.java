package lectus.http.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CouchDB 3.5.2's decisions, except for headers that it answers with 500. */
final class AcceptedTypesTest {
  private static final String JSON = "application/json";
  private static final String MIXED = "multipart/mixed";
  private static final String RELATED = "multipart/related";

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
}
