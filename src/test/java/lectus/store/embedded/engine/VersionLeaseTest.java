package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VersionLeaseTest {
  private static final byte[] FF = {(byte) 0xFF};

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

  /** Returns a template with {@code length} bytes before the offset. */
  private static byte[] template(int length, int offset) {
    byte[] template = new byte[length + 4];
    for (int i = 0; i < 4; i++) {
      template[length + i] = (byte) (offset >>> (8 * i));
    }
    return template;
  }

  @ParameterizedTest
  @CsvSource({"10, 0", "12, 2", "300, 290", "300, 256"})
  void room_for_the_stamp_is_found(int length, int offset) {
    assertThat(CommitStamp.offset(template(length, offset))).isEqualTo(offset);
  }

  @ParameterizedTest
  @CsvSource({"10, 1", "9, 0", "10, -1", "300, 291", "0, 0"})
  void no_room_is_client_invalid_operation(int length, int offset) {
    byte[] template = template(length, offset);

    assertInvalid(template);
  }

  @Test
  void three_bytes_hold_no_offset() {
    assertInvalid(new byte[3]);
  }

  private static void assertInvalid(byte[] template) {
    assertThatThrownBy(() -> CommitStamp.offset(template))
        .isInstanceOfSatisfying(
            FDBException.class, error -> assertThat(error.getCode()).isEqualTo(2000));
  }

  @Test
  void the_key_may_come_to_lie_from_the_lowest_stamp_to_behind_the_highest() {
    byte[] template = template(12, 1);
    template[0] = 'p';
    template[11] = 's';

    KeyRange place = CommitStamp.place(template, 0x0102, FF);

    assertThat(place.begin()).containsExactly('p', 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 's');
    assertThat(place.end()).containsExactly('p', -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 's', 0);
  }

  @Test
  void the_place_ends_with_the_key_space() {
    byte[] template = template(10, 0);

    assertThat(CommitStamp.place(template, 0, FF).end()).isEqualTo(FF);
  }

  @Test
  void the_lowest_stamp_keeps_the_offset_bytes() {
    byte[] filled = CommitStamp.withLowestStamp(template(10, 0), 7);

    assertThat(filled).containsExactly(0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0);
  }
}
