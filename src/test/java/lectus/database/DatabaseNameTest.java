package lectus.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.error.LectusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DatabaseNameTest {

  @ParameterizedTest
  @ValueSource(
      strings = {"a", "a0_$()+-/", "user/2026-11", "_users", "_replicator", "_global_changes"})
  void legal(String name) {
    assertThat(DatabaseName.of(name).text()).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "A", "aB", "0a", "_other", "a b", "a.b", "a\n", "\u00e4", "a\u00e4", "-a"})
  void illegal(String name) {
    assertThatThrownBy(() -> DatabaseName.of(name))
        .isInstanceOf(LectusException.class)
        .hasMessageStartingWith("illegal_database_name: Name: '" + name + "'.");
  }

  @Test
  void at_most_238_characters() {
    assertThat(DatabaseName.of("a".repeat(238)).text()).hasSize(238);
    assertThatThrownBy(() -> DatabaseName.of("a".repeat(239))).isInstanceOf(LectusException.class);
  }
}
