package lectus.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How many connections fit. */
final class ConnectionLimitTest {
  @Test
  void there_is_memory_for_them() {
    assertThat(ConnectionLimit.of(640, Long.MAX_VALUE)).isEqualTo(640);
    assertThat(ConnectionLimit.of(640, 1_280)).isEqualTo(640);
  }

  @Test
  void the_store_has_half_of_the_descriptors() {
    assertThat(ConnectionLimit.of(640, 1_278)).isEqualTo(639);
    assertThat(ConnectionLimit.of(10_000, 1_024)).isEqualTo(512);
  }

  @Test
  void some_there_are_always() {
    assertThat(ConnectionLimit.of(1_000, 1)).isEqualTo(64);
    assertThat(ConnectionLimit.of(63, 1)).isEqualTo(63);
    assertThat(ConnectionLimit.descriptors()).isGreaterThan(64);
  }
}
