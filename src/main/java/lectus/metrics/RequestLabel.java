package lectus.metrics;

import java.util.Optional;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * What lines of the log say of the request that they are about.
 *
 * @param id of the request, as its answer has it
 * @param user who is logged in
 * @param database whose name is in the path, whether it exists or not
 */
public record RequestLabel(String id, Optional<String> user, Optional<String> database) {
  /** Of a name in a line; the longest name of a database is shorter. */
  private static final int LONGEST_NAME = 256;

  public RequestLabel {
    user = user.map(RequestLabel::shortened);
    database = database.map(RequestLabel::shortened);
  }

  public LoggingEventBuilder on(LoggingEventBuilder line) {
    LoggingEventBuilder labelled = line.addKeyValue("request", id);
    if (user.isPresent()) {
      labelled = labelled.addKeyValue("user", user.get());
    }
    return database.isPresent() ? labelled.addKeyValue("db", database.get()) : labelled;
  }

  private static String shortened(String name) {
    return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME) + "...";
  }
}
