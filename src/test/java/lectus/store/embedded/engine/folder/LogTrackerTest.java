package lectus.store.embedded.engine.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import lectus.store.embedded.engine.folder.LogTracker.LogNames;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.RocksDBException;

/**
 * What is noted of logs that come and go, and of failures: clients learn what is wrong, the log
 * where.
 */
class LogTrackerTest {
  private static final long CEILING = 160_000_000;

  private static final String FILE = "/srv/data/rocks/000012.log";

  @TempDir Path folder;

  private long now;

  private final RecentLines lines = new RecentLines(() -> now);

  /** A record without logs means that an administrator accepted a loss. */
  @Test
  void logs_that_are_written_out_before_their_lengths_are_taken_leave_the_former_note()
      throws IOException {
    Path older = log(5, 10);
    LogTracker tracker = new LogTracker(folder, () -> CEILING, false);
    tracker.synced();
    tracker.ask();
    log(6, 20);
    Files.delete(older);

    tracker.settle();

    assertThat(tracker.noted().lengths()).containsExactly(Map.entry(5L, 10L));
    assertThat(tracker.isBehind()).isTrue();
    tracker.ask();
    tracker.settle();
    assertThat(tracker.noted().lengths()).containsExactly(Map.entry(6L, 20L));
    assertThat(tracker.isBehind()).isFalse();
  }

  private Path log(long number, int bytes) throws IOException {
    return Files.write(folder.resolve(LogNames.name(number)), new byte[bytes]);
  }

  @Test
  void line_that_differs_in_numbers_alone_is_not_new_for_ten_minutes() {
    assertThat(lines.isNew("While appending to file 000012.log")).isTrue();
    assertThat(lines.isNew("While appending to file 000013.log")).isFalse();
    assertThat(lines.isNew("While opening file 000013.log")).isTrue();

    now += Duration.ofMinutes(10).toNanos() - 1;
    assertThat(lines.isNew("While appending to file 000014.log")).isFalse();
    now += 1;
    assertThat(lines.isNew("While appending to file 000015.log")).isTrue();
  }

  @Test
  void only_so_many_are_remembered() {
    lines.isNew("first");
    for (int i = 0; i < 63; i++) {
      lines.isNew("x".repeat(i + 1));
    }
    assertThat(lines.isNew("first")).isFalse();
    lines.isNew("x".repeat(64));
    assertThat(lines.isNew("first")).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "No space left on device, 1599, The disk is full.",
    "Too many open files, 1514, The server has too many files and sockets open.",
    "Input/output error, 1514, The store could not be written."
  })
  void a_write_that_fails(String reason, int code, String told) {
    IoFailure trouble =
        IoFailure.of(new RocksDBException("While appending to file: " + FILE + ": " + reason));

    assertThat(trouble.refusal().getCode()).isEqualTo(code);
    assertThat(trouble.refusal()).hasMessage(told);
    assertThat(trouble.sentence()).contains(FILE, reason);
  }

  @Test
  void a_read_that_fails() {
    RocksDBException failure =
        new RocksDBException("While open a file for random read: " + FILE + ": Input/output error");

    assertThat(IoFailure.unreadable(failure).getCode()).isEqualTo(1513);
    assertThat(IoFailure.unreadable(failure))
        .hasMessage("The store could not be read; the log says why.");
  }
}
