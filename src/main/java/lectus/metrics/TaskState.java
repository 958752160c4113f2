package lectus.metrics;

import java.time.Instant;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A running task as it was at some time.
 *
 * @param number of the task among those of its server
 * @param type in lower case, with underscores between words
 * @param subject the name of its database; empty if it has none
 * @param details what else there is to know of it, by names in lower case
 * @param updated when it last told how far it was
 * @param total how much there is to do; empty if nobody knows
 */
public record TaskState(
    long number,
    String type,
    String subject,
    Map<String, String> details,
    Instant started,
    Instant updated,
    long done,
    OptionalLong total) {
  private static final long PERCENT = 100;

  /** Returns how much is done, in percent. What is estimated too low never ends before its task. */
  public OptionalLong progress() {
    return total.isPresent() && total.getAsLong() > 0
        ? OptionalLong.of((long) (PERCENT * Math.min(1, (double) done / total.getAsLong())))
        : OptionalLong.empty();
  }
}
