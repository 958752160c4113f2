package lectus.server;

import java.time.Duration;

/**
 * How often a server looks for itself at the databases that somebody listens to.
 *
 * @param busy pause before the next look at a database that a look found moved
 * @param idle longest pause: looks at a database that stands still become ever rarer up to it
 */
public record PollSettings(Duration busy, Duration idle) {
  public PollSettings {
    if (busy.toMillis() < 1 || idle.compareTo(busy) < 0) {
      throw new IllegalArgumentException("The pauses are 1 ms or longer, the idle one not shorter");
    }
  }
}
