package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.text;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotLifeTest {
  @TempDir Path folder;
  private final AtomicLong clock = new AtomicLong(1_000_000_000);
  private final TurnedByHand hand = new TurnedByHand();
  @AutoClose private RocksEngine engine;

  @BeforeEach
  void open() {
    engine =
        RocksEngine.open(
            folder,
            EngineOptions.defaults()
                .with(TestOptions.clock(clock::get))
                .with(TestOptions.threads(hand, hand)));
  }

  @Test
  void closed_snapshots_are_freed() {
    StoreSnapshot first = engine.latest();
    StoreSnapshot second = engine.latest();
    set("k", "1");
    StoreSnapshot third = engine.latest();
    set("k", "2");
    assertThat(engine.heldStates()).isEqualTo(3);
    assertThat(engine.openSnapshots()).isEqualTo(3);

    first.close();
    first.close();
    assertThat(second.get(bytes("k"))).isNull();
    second.close();
    third.close();

    assertThat(engine.openSnapshots()).isZero();
    pass(StoreSnapshot.WINDOW_VERSIONS + 1);
    assertThat(engine.heldStates()).isEqualTo(1);
    assertThat(code(() -> third.get(bytes("k")))).isEqualTo(1025);
  }

  @Test
  void closed_snapshot_ends_its_cursors() {
    set("a", "1");
    StoreSnapshot snapshot = engine.latest();
    Cursor cursor = snapshot.scan(bytes("a"), bytes("z"), false);
    assertThat(cursor.next()).isTrue();
    set("c", "3");

    snapshot.close();

    assertThat(code(cursor::next)).isEqualTo(1025);
    cursor.close();
    pass(StoreSnapshot.WINDOW_VERSIONS + 1);
    assertThat(engine.heldStates()).isEqualTo(1);
  }

  @Test
  void closed_cursor_leaves_its_snapshot_open() {
    set("a", "1");
    try (StoreSnapshot snapshot = engine.latest()) {
      Cursor cursor = snapshot.scan(bytes("a"), bytes("z"), true);
      assertThat(cursor.next()).isTrue();
      cursor.close();
      assertThat(code(cursor::next)).isEqualTo(1025);
      assertThat(text(snapshot.get(bytes("a")))).isEqualTo("1");
    }
  }

  @Test
  void window_is_exact() {
    StoreSnapshot snapshot = engine.latest();
    set("k", "1");

    pass(snapshot.version() + StoreSnapshot.WINDOW_VERSIONS - engine.readVersion());
    assertThat(engine.readVersion() - snapshot.version()).isEqualTo(StoreSnapshot.WINDOW_VERSIONS);
    assertThat(snapshot.get(bytes("k"))).isNull();
    engine.snapshot(snapshot.version()).close();

    pass(1);
    assertThat(code(() -> snapshot.get(bytes("k")))).isEqualTo(1007);
    assertThat(code(() -> engine.snapshot(snapshot.version()))).isEqualTo(1007);
    snapshot.close();
  }

  @Test
  void expired_snapshot_is_freed_though_nobody_closes_it() {
    set("a", "1");
    StoreSnapshot snapshot = engine.latest();
    Cursor cursor = snapshot.scan(bytes("a"), bytes("z"), false);
    assertThat(cursor.next()).isTrue();
    set("a", "2");

    pass(StoreSnapshot.WINDOW_VERSIONS + 1);

    assertThat(code(cursor::next)).isEqualTo(1007);
    assertThat(engine.openSnapshots()).isZero();
    assertThat(engine.heldStates()).isEqualTo(1);
    snapshot.close();
    cursor.close();
    assertThat(engine.heldStates()).isEqualTo(1);
  }

  @Test
  void commit_older_than_the_window_loses() {
    StoreSnapshot old = engine.latest();
    set("k", "1");
    // The commit itself takes the next version, one further.
    pass(old.version() + StoreSnapshot.WINDOW_VERSIONS - 1 - engine.readVersion());
    assertThat(commitAt(old.version(), "free")).isZero();

    assertThat(commitAt(old.version(), "free")).isEqualTo(1007);
    assertThat(commitAt(-1, "free")).isZero();
    old.close();
  }

  @Test
  void versions_of_the_window_can_be_opened_though_nobody_holds_them() {
    set("k", "0");
    long first = engine.readVersion();
    pass(100);
    set("k", "1");
    long second = engine.readVersion();
    set("k", "2");

    assertThat(valueAt(first)).isEqualTo("0");
    assertThat(valueAt(first + 50)).isEqualTo("0");
    assertThat(valueAt(second)).isEqualTo("1");
    assertThat(code(() -> engine.snapshot(engine.readVersion() + 1))).isEqualTo(1009);

    pass(second - 1 + StoreSnapshot.WINDOW_VERSIONS - engine.readVersion());
    assertThat(valueAt(second - 1)).isEqualTo("0");
    pass(1);
    assertThat(code(() -> engine.snapshot(second - 1))).isEqualTo(1007);
    assertThat(valueAt(second)).isEqualTo("1");
    assertThat(valueAt(second + 1)).isEqualTo("2");
  }

  @Test
  void states_that_nobody_reads_are_bounded_in_number() {
    set("k", "first");
    long first = engine.readVersion();
    StoreSnapshot open = engine.latest();
    for (int i = 0; i < SnapshotRegistry.MAX_RECENT; i++) {
      set("k", "later");
    }
    assertThat(engine.heldStates()).isEqualTo(SnapshotRegistry.MAX_RECENT + 1);
    assertThat(valueAt(first)).isEqualTo("first");

    set("k", "last");
    assertThat(valueAt(first)).as("still open").isEqualTo("first");
    assertThat(code(() -> engine.snapshot(first - 1))).isEqualTo(1007);
    open.close();
    assertThat(engine.heldStates()).isEqualTo(SnapshotRegistry.MAX_RECENT + 1);
    assertThat(code(() -> engine.snapshot(first))).isEqualTo(1007);
  }

  @Test
  void conflicts_are_known_for_the_whole_window() {
    long before = engine.readVersion();
    set("k", "1");
    assertThat(commitAt(before, "k")).isEqualTo(1020);
    assertThat(commitAt(before, "free")).isZero();

    pass(StoreSnapshot.WINDOW_VERSIONS + 1);
    assertThat(commitAt(before, "free")).isEqualTo(1007);
  }

  @Test
  void conflicts_of_versions_that_nobody_reads_take_half_of_the_history() {
    reopenWithHistory(2_000);
    long unread = engine.readVersion();
    set("k", "1");
    long read = engine.readVersion();
    try (StoreSnapshot open = engine.latest()) {
      assertThat(commitAt(unread, "free")).isZero();
      for (int i = 0; i < 15; i++) {
        set("k" + i, "");
      }
      assertThat(commitAt(unread, "free")).isEqualTo(1007);
      assertThat(commitAt(read, "free")).isZero();
      assertThat(open.get(bytes("k"))).isNotNull();
    }
  }

  @Test
  void history_above_its_limit_costs_the_oldest_transaction() {
    reopenWithHistory(1_000);
    try (StoreSnapshot old = engine.latest()) {
      set("k", "1");
      assertThat(commitAt(old.version(), "free")).isZero();
      for (int i = 0; i < 100; i++) {
        set("k" + i, "");
      }
      assertThat(commitAt(old.version(), "free")).isEqualTo(1007);
      assertThat(old.get(bytes("k"))).isNull();
    }
  }

  private void reopenWithHistory(long bytes) {
    engine.close();
    engine =
        RocksEngine.open(
            folder,
            EngineOptions.defaults()
                .withLimits(bytes, 1 << 20)
                .with(TestOptions.clock(clock::get))
                .with(TestOptions.threads(hand, hand)));
  }

  private String valueAt(long version) {
    try (StoreSnapshot snapshot = engine.snapshot(version)) {
      assertThat(snapshot.version()).isEqualTo(version);
      return text(snapshot.get(bytes("k")));
    }
  }

  private void set(String key, String value) {
    var future = engine.commit(Commits.commit().set(key, value).request());
    hand.run();
    future.join();
  }

  private int commitAt(long version, String read) {
    var future = engine.commit(Commits.commit().at(version).read(read).set("w", "").request());
    hand.run();
    return future
        .handle((receipt, failure) -> failure == null ? 0 : ((FDBException) failure).getCode())
        .join();
  }

  private void pass(long versions) {
    clock.set(engine.readVersion() + versions);
    hand.tick();
  }

  private static int code(ThrowingCallable call) {
    try {
      call.call();
      return 0;
    } catch (FDBException failure) {
      return failure.getCode();
    } catch (Throwable other) {
      throw new AssertionError(other);
    }
  }
}
