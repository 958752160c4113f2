package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VersionLeaseTest {
  @TempDir Path folder;
  private final AtomicLong clock = new AtomicLong(1_000_000_000);
  private final TurnedByHand hand = new TurnedByHand();

  @Test
  void versions_pass_with_the_clock() {
    try (RocksEngine engine = open()) {
      commit(engine);
      clock.addAndGet(1_000_000);
      assertThat(commit(engine)).isEqualTo(clock.get());

      assertThat(commit(engine)).isEqualTo(clock.get() + 1);
    }
  }

  @Test
  void versions_ahead_of_a_clock_that_was_set_back_advance_half_as_fast() {
    try (RocksEngine engine = open()) {
      long first = commit(engine);
      clock.addAndGet(-5_000_000);
      assertThat(commit(engine)).isEqualTo(first + 1);
      clock.addAndGet(4_000_000);
      assertThat(commit(engine)).isEqualTo(first + 2_000_001);
      clock.addAndGet(9_000_000);
      assertThat(commit(engine)).isEqualTo(clock.get());
    }
  }

  @Test
  void versions_far_ahead_of_the_clock_do_not_wait_for_it() {
    try (RocksEngine engine = open()) {
      long first = commit(engine);
      clock.addAndGet(-4_000_000_000L);
      assertThat(commit(engine)).isEqualTo(first + 1);
      clock.addAndGet(1_000_000);
      assertThat(commit(engine)).isEqualTo(first + 1_000_001);
    }
  }

  @Test
  void a_new_store_and_a_restart_begin_with_the_time() {
    try (RocksEngine engine = open()) {
      assertThat(engine.readVersion()).isEqualTo(clock.get());
    }
    clock.addAndGet(10_000_000);
    try (RocksEngine engine = open()) {
      assertThat(engine.readVersion()).isEqualTo(clock.get());
    }
  }

  /** The ceiling is a minute ahead, but nothing up to it was given out. */
  @Test
  void a_start_after_an_orderly_stop_goes_on_where_the_last_run_ended() {
    long newest;
    try (RocksEngine engine = open()) {
      newest = commit(engine);
    }
    clock.addAndGet(-1_000_000);
    try (RocksEngine engine = open()) {
      assertThat(engine.readVersion()).isBetween(newest + 1, newest + 10);
    }
  }

  @Test
  void idle_time_raises_the_read_version() {
    try (RocksEngine engine = open()) {
      long before = engine.readVersion();
      clock.addAndGet(250_000);
      hand.tick();
      assertThat(engine.readVersion()).isEqualTo(before + 250_000);
      assertThat(commit(engine)).isGreaterThan(before + 250_000);
    }
  }

  @Test
  void restart_goes_on_above_everything_that_was_given_out() {
    long newest = 0;
    for (int run = 0; run < 5; run++) {
      try (RocksEngine engine = open()) {
        assertThat(engine.readVersion()).isGreaterThan(newest);
        long committed = commit(engine);
        assertThat(committed).isGreaterThan(engine.readVersion() - 1).isGreaterThan(newest);
        // A jump beyond the lease, in idle time: it has to be leased before it is given out.
        clock.addAndGet(3 * VersionLease.LEASE_VERSIONS);
        hand.tick();
        newest = engine.readVersion();
        assertThat(newest).isGreaterThan(committed);
      }
      clock.addAndGet(-4 * VersionLease.LEASE_VERSIONS);
    }
  }

  @Test
  void commit_beyond_the_lease_is_leased_first() {
    long newest;
    try (RocksEngine engine = open()) {
      clock.addAndGet(10 * VersionLease.LEASE_VERSIONS);
      newest = commit(engine);
    }
    clock.set(0);
    try (RocksEngine engine = open()) {
      assertThat(commit(engine)).isGreaterThan(newest);
    }
  }

  private RocksEngine open() {
    return RocksEngine.open(
        folder,
        EngineOptions.defaults()
            .with(TestOptions.clock(clock::get))
            .with(TestOptions.threads(hand, hand)));
  }

  private long commit(Engine engine) {
    var future = engine.commit(Commits.commit().set("k", "v").request());
    hand.run();
    return future.join().version();
  }
}
