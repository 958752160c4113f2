package lectus.metrics;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.metrics.Meters.Measured;
import org.slf4j.LoggerFactory;

/**
 * How many lines the process has logged, by their level. Lines of loggers that do not pass theirs
 * on to the root are not among them. Thread-safe.
 */
public final class LogCounts extends AppenderBase<ILoggingEvent> implements Measured {
  private static final String NAME = "LECTUS_COUNTS";

  private final Map<Level, LongAdder> lines =
      Stream.of(Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG)
          .collect(Collectors.toMap(level -> level, level -> new LongAdder()));

  private LogCounts() {
    setName(NAME);
  }

  /** Returns the counts of the process, which begin when somebody asks for them first. */
  public static synchronized LogCounts ofProcess() {
    LogCounts counts = new LogCounts();
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logback) {
      Logger root = logback.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
      if (root.getAppender(NAME) instanceof LogCounts known) {
        return known;
      }
      counts.setContext(logback);
      counts.start();
      root.addAppender(counts);
    }
    return counts;
  }

  @Override
  protected void append(ILoggingEvent line) {
    LongAdder ofLevel = lines.get(line.getLevel());
    if (ofLevel != null) {
      ofLevel.increment();
    }
  }

  public long of(Level level) {
    return lines.get(level).sum();
  }

  @Override
  public void describe(Meters meters) {
    lines.forEach(
        (level, count) ->
            meters
                .with("level", level.toString().toLowerCase(Locale.ROOT))
                .count("lectus_log_lines", "Lines of the log.", count::sum));
  }
}
