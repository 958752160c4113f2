package lectus.mango.selector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.error.LectusException;
import lectus.json.JsonValue.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SelectorFieldsTest {
  private static SelectorFields fields(String selector) {
    return new SelectorFields(NormalSelector.of((JsonObject) Documents.json(selector)));
  }

  private static String numbers(int count, String form) {
    return IntStream.range(0, count)
        .mapToObj(i -> form.replace("#", Integer.toString(i)))
        .collect(Collectors.joining(","));
  }

  @Test
  void an_alternative_costs_its_own_conditions_and_not_those_of_all() {
    String others = numbers(5_000, "{'f#':{'$gt':#}}");
    String selector = "{'$and':[{'a':{'$in':[" + numbers(999, "#") + "]}}," + others + "]}";

    List<Map<String, Optional<ValueRange>>> alternatives =
        fields(selector).alternatives(List.of("a"));

    assertThat(alternatives).hasSize(1_000).allSatisfy(it -> assertThat(it).containsOnlyKeys("a"));
  }

  @Test
  void fields_within_a_field_with_a_long_name_have_a_limit() {
    String most = "{'" + "x".repeat(9_998) + "':{" + numbers(99, "'#':1") + "}}";
    String more = "{'" + "x".repeat(9_998) + "':{" + numbers(101, "'#':1") + "}}";
    String huge = "{'" + "x".repeat(900_000) + "':{" + numbers(5_000, "'#':1") + "}}";

    assertThat(fields(most).all()).hasSize(99);
    for (String refused : List.of(more, huge)) {
      assertThatThrownBy(() -> fields(refused))
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("1000000 characters in its fields' paths");
    }
  }

  @Test
  void an_alternative_has_what_the_selector_says_of_further_columns() {
    String selector = "{'b':7,'c':8,'$or':[{'a':1},{'a':2,'b':{'$gt':7}},{'a':3,'b':{'$gt':6}}]}";

    List<Map<String, Optional<ValueRange>>> alternatives =
        fields(selector).alternatives(List.of("a", "b"));

    Optional<ValueRange> seven = Optional.of(ValueRange.only(Documents.json("7")));
    assertThat(alternatives).hasSize(3);
    assertThat(alternatives.get(0)).containsEntry("b", seven).containsOnlyKeys("a", "b");
    assertThat(alternatives.get(1)).containsExactly(Map.entry("b", Optional.empty()));
    assertThat(alternatives.get(2)).containsEntry("b", seven);
  }
}
