package lectus.server;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * When each thing that moves is due for a look. A look that finds one moved is followed by another
 * soon; as long as it stands still, or others tell of its moves before a look finds them, the
 * pauses double. What is new here begins with short pauses, because events of it may not reach this
 * server yet.
 */
final class PollSchedule<K> {
  private final long busyNanos;
  private final long idleNanos;
  private final LongSupplier nanoTime;
  private final Map<K, Turn> turns = new HashMap<>();

  /** The next look at one of them, and the pause before it. */
  private record Turn(long dueNanos, long pauseNanos) {}

  PollSchedule(PollSettings settings, LongSupplier nanoTime) {
    this.busyNanos = settings.busy().toNanos();
    this.idleNanos = settings.idle().toNanos();
    this.nanoTime = nanoTime;
  }

  /** Takes up what is new among these, and forgets everything else. */
  void follow(Set<K> all) {
    turns.keySet().retainAll(all);
    long now = nanoTime.getAsLong();
    for (K one : all) {
      turns.computeIfAbsent(one, fresh -> new Turn(now + busyNanos, busyNanos));
    }
  }

  /** Whose turn has come. */
  List<K> due() {
    long now = nanoTime.getAsLong();
    return turns.entrySet().stream()
        .filter(turn -> turn.getValue().dueNanos() - now <= 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * @param moved whether the look found what nobody had told of
   */
  void looked(K one, boolean moved) {
    turns.computeIfPresent(
        one,
        (same, turn) -> {
          long pause = moved ? busyNanos : Math.min(idleNanos, 2 * turn.pauseNanos());
          return new Turn(nanoTime.getAsLong() + pause, pause);
        });
  }

  /** How long nothing is due; the idle pause if nothing is followed. */
  Duration untilNext() {
    long now = nanoTime.getAsLong();
    long next =
        turns.values().stream().mapToLong(turn -> turn.dueNanos() - now).min().orElse(idleNanos);
    return Duration.ofNanos(Math.max(0, next));
  }
}
