package lectus.metrics;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A task from its beginning to its end. Thread-safe. */
public final class RunningTask implements AutoCloseable {
  private final InstantSource clock;
  private final Consumer<RunningTask> ending;
  private volatile TaskState state;

  RunningTask(
      long number,
      String type,
      String subject,
      Map<String, String> details,
      InstantSource clock,
      Consumer<RunningTask> ending) {
    Instant now = clock.instant();
    this.clock = clock;
    this.ending = ending;
    this.state = new TaskState(number, type, subject, details, now, now, 0, OptionalLong.empty());
  }

  /** Tells how much there is to do in all. */
  public synchronized RunningTask outOf(long total) {
    state = changed(state.done(), OptionalLong.of(total));
    return this;
  }

  /** Tells that so much more is done. */
  public synchronized void advance(long more) {
    state = changed(state.done() + more, state.total());
  }

  private TaskState changed(long done, OptionalLong total) {
    return new TaskState(
        state.number(),
        state.type(),
        state.subject(),
        state.details(),
        state.started(),
        clock.instant(),
        done,
        total);
  }

  /** Returns how much is done. */
  public long done() {
    return state.done();
  }

  TaskState state() {
    return state;
  }

  @Override
  public void close() {
    ending.accept(this);
  }
}
