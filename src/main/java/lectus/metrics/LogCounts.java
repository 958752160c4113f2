package lectus.metrics;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import lectus.metrics.Meters.Measured;
import org.slf4j.LoggerFactory;

/** How many lines the process has logged, by their level. Thread-safe. */
public final class LogCounts implements Measured {
  private static final String NAME = "LECTUS_COUNTS";
  private static final List<Level> LEVELS =
      List.of(Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG);

  private final Map<Level, LongAdder> lines;

  private LogCounts(Map<Level, LongAdder> lines) {
    this.lines = lines;
  }

  /** Returns the counts of the process, which begin when somebody asks for them first. */
  public static synchronized LogCounts ofProcess() {
    if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext logback)) {
      return new LogCounts(adders());
    }
    Logger root = logback.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    if (root.getAppender(NAME) instanceof Counting known) {
      return new LogCounts(known.lines);
    }
    Counting counting = new Counting(adders());
    counting.setName(NAME);
    counting.setContext(logback);
    counting.start();
    root.addAppender(counting);
    return new LogCounts(counting.lines);
  }

  private static Map<Level, LongAdder> adders() {
    return LEVELS.stream().collect(Collectors.toMap(level -> level, level -> new LongAdder()));
  }

  /** Lines of loggers that do not pass theirs on to the root are not among them. */
  private static final class Counting extends AppenderBase<ILoggingEvent> {
    private final Map<Level, LongAdder> lines;

    Counting(Map<Level, LongAdder> lines) {
      this.lines = lines;
    }

    @Override
    protected void append(ILoggingEvent line) {
      LongAdder ofLevel = lines.get(line.getLevel());
      if (ofLevel != null) {
        ofLevel.increment();
      }
    }
  }

  public long errors() {
    return lines.get(Level.ERROR).sum();
  }

  public long warnings() {
    return lines.get(Level.WARN).sum();
  }

  public long infos() {
    return lines.get(Level.INFO).sum();
  }

  public long debugs() {
    return lines.get(Level.DEBUG).sum();
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
