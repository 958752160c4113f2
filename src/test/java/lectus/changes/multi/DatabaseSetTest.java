package lectus.changes.multi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import lectus.changes.multi.DatabaseSet.DatabasePattern;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DatabaseSetTest {
  @ParameterizedTest
  @CsvSource({
    "user-*, user-, true",
    "user-*, user-7, true",
    "user-*, user-a/b, true",
    "user-*, user, false",
    "user-*, super-user-7, false",
    "*, anything, true",
    "*-log, a-log, true",
    "*-log, a-logs, false",
    "a*a, a, false",
    "a*a, aa, true",
    "a*b*c, abc, true",
    "a*b*c, axbxbxc, true",
    "a*b*c, acb, false",
    "a*bc*c, abc, false",
    "a**b, ab, true",
    "plain, plain, true",
    "plain, plainer, false",
  })
  void star_stands_for_any_run_of_characters(String pattern, String name, boolean contained) {
    assertThat(DatabaseSet.of(List.of(pattern)).contains(DatabaseName.of(name)))
        .isEqualTo(contained);
  }

  @Test
  void it_is_the_union_of_its_members() {
    DatabaseSet set = DatabaseSet.of(List.of("a", "b*", "c*x"));
    assertThat(List.of("a", "b", "bc", "cax", "aa", "ca", "d"))
        .filteredOn(name -> set.contains(DatabaseName.of(name)))
        .containsExactly("a", "b", "bc", "cax");
  }

  @Test
  void equal_members_make_equal_sets_in_any_order() {
    DatabaseSet one = DatabaseSet.of(List.of("a", "b*", "c*"));
    DatabaseSet other = DatabaseSet.of(List.of("c*", "b*", "a", "a"));
    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(one).isNotEqualTo(DatabaseSet.of(List.of("a", "b*")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "User-*", "a b*", "Upper", "_x", "ü*", "a?*"})
  void what_no_database_can_be_called_is_refused(String member) {
    assertThatThrownBy(() -> DatabaseSet.of(List.of(member))).isInstanceOf(LectusException.class);
  }

  @Test
  void patterns_match_what_regular_expressions_do() {
    Random random = new Random(4);
    for (int i = 0; i < 20_000; i++) {
      String pattern = text(random, "ab*", 1 + random.nextInt(6));
      String name = "a" + text(random, "ab", random.nextInt(8));
      boolean expected = name.matches(pattern.replace("*", ".*"));
      if (DatabasePattern.isPattern(pattern)) {
        assertThat(DatabasePattern.of(pattern).matches(DatabaseName.of(name)))
            .as(pattern + " " + name)
            .isEqualTo(expected);
      }
    }
  }

  private static String text(Random random, String alphabet, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }
}
