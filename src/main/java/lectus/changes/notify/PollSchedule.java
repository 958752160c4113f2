package lectus.changes.notify;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import lectus.changes.notify.StorePoll.PollSettings;

/**
 * Schedules the polls of things that move. A poll that finds one moved is followed by another soon.
 * While it stands still, or events announce its moves before a poll finds them, the pauses double.
 * A new one begins with short pauses, because events of it may not reach this server yet.
 */
final class PollSchedule<K> {
  private final long busyNanos;
  private final long idleNanos;
  private final LongSupplier nanoTime;
  private final Map<K, Turn> turns = new HashMap<>();

  /** The next poll of one thing, and the pause before it. */
  private record Turn(long dueNanos, long pauseNanos) {}

  PollSchedule(PollSettings settings, LongSupplier nanoTime) {
    this.busyNanos = settings.busy().toNanos();
    this.idleNanos = settings.idle().toNanos();
    this.nanoTime = nanoTime;
  }

  /** Adds what is new among these, and forgets everything else. */
  void follow(Set<K> all) {
    turns.keySet().retainAll(all);
    long now = nanoTime.getAsLong();
    for (K one : all) {
      turns.computeIfAbsent(one, fresh -> new Turn(now + busyNanos, busyNanos));
    }
  }

  /** Returns what is due. */
  List<K> due() {
    long now = nanoTime.getAsLong();
    return turns.entrySet().stream()
        .filter(turn -> turn.getValue().dueNanos() - now <= 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Makes one due at once. */
  void hurry(K one) {
    turns.computeIfPresent(one, (same, turn) -> new Turn(nanoTime.getAsLong(), turn.pauseNanos()));
  }

  /**
   * @param moved whether the poll found what no event had announced
   */
  void looked(K one, boolean moved) {
    turns.computeIfPresent(
        one,
        (same, turn) -> {
          long pause = moved ? busyNanos : Math.min(idleNanos, 2 * turn.pauseNanos());
          return new Turn(nanoTime.getAsLong() + pause, pause);
        });
  }

  /** Returns how long nothing is due; the idle pause if nothing is followed. */
  Duration untilNext() {
    long now = nanoTime.getAsLong();
    long next =
        turns.values().stream().mapToLong(turn -> turn.dueNanos() - now).min().orElse(idleNanos);
    return Duration.ofNanos(Math.max(0, next));
  }
}
