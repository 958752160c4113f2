package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class HistogramTest {
  @Test
  void a_value_counts_below_the_next_bound_and_at_it() {
    Histogram sizes = Histogram.ofSizes();

    sizes.add(1);
    sizes.add(2);
    sizes.add(3);
    sizes.add(4);
    sizes.add(1_000_000, 5);

    Histogram.State state = sizes.state();
    assertThat(state.bounds()).startsWith(1, 2, 4, 8).endsWith(4_096, Double.POSITIVE_INFINITY);
    assertThat(state.counts()).startsWith(1, 1, 2, 0).endsWith(0, 5);
    assertThat(state.count()).isEqualTo(9);
    assertThat(state.sum()).isEqualTo(10 + 5_000_000);
  }

  @Test
  void spreads_add_up() {
    Histogram one = Histogram.ofSizes();
    Histogram other = Histogram.ofSizes();
    one.add(3);
    other.add(4, 2);

    Histogram.State both = one.state().and(other.state());
    assertThat(both.counts()).startsWith(0, 0, 3, 0);
    assertThat(both.sum()).isEqualTo(11);
  }

  @Test
  void times_are_shown_in_seconds() {
    Histogram times = Histogram.ofTimes();

    times.add(1_500_000_000);

    assertThat(times.state().sum()).isEqualTo(1.5);
    assertThat(times.state().bounds()).contains(0.001, 1, 2.5);
  }
}
