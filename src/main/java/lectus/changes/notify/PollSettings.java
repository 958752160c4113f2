package lectus.changes.notify;

import java.time.Duration;

/**
 * How often a server polls the databases with listeners.
 *
 * @param busy pause before the next poll of a database that a poll found moved
 * @param idle longest pause: polls of a database that stands still become ever rarer up to it
 */
public record PollSettings(Duration busy, Duration idle) {
  public PollSettings {
    if (busy.toMillis() < 1 || idle.compareTo(busy) < 0) {
      throw new IllegalArgumentException("The pauses are 1 ms or longer, the idle one not shorter");
    }
  }
}
