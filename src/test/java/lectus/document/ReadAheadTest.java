package lectus.document;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadAheadTest {
  private final ReadAhead readAhead = new ReadAhead();

  @Test
  void begins_with_some_bodies_of_unknown_size() {
    assertThat(readAhead.size()).isEqualTo(50);
  }

  @Test
  void follows_the_size_of_the_last_bodies() {
    readAhead.took(2, 600);
    assertThat(readAhead.size()).isEqualTo(64);

    readAhead.took(16, 16 * 64 * 1024);
    assertThat(readAhead.size()).isEqualTo(4);

    readAhead.took(4, 4_000_000);
    assertThat(readAhead.size()).isEqualTo(1);
  }

  @Test
  void expects_that_the_next_are_as_the_last() {
    assertThat(readAhead.fitting(0)).isPositive();

    readAhead.took(2, 600);
    assertThat(readAhead.fitting(899)).isEqualTo(2);
    assertThat(readAhead.fitting(900)).isEqualTo(3);
    assertThat(readAhead.fitting(-1)).isZero();
  }

  @Test
  void rows_without_a_body_count_as_small_ones() {
    readAhead.took(1, 0);

    assertThat(readAhead.size()).isEqualTo(64);
  }
}
