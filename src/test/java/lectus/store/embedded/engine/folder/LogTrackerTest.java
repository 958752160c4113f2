package lectus.store.embedded.engine.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import lectus.store.embedded.engine.folder.LogTracker.LogNames;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tracker notes of logs that come and go. */
class LogTrackerTest {
  private static final long CEILING = 160_000_000;

  @TempDir Path folder;

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
}
