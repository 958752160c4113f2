package lectus.store.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/** What loggers and those below them are told until it is closed. */
public final class LogLines implements AutoCloseable {
  public static final String ROOT = org.slf4j.Logger.ROOT_LOGGER_NAME;

  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
  private final List<Logger> loggers;

  private LogLines(String... names) {
    loggers = Stream.of(names).map(name -> (Logger) LoggerFactory.getLogger(name)).toList();
    appender.start();
    loggers.forEach(logger -> logger.addAppender(appender));
  }

  public static LogLines of(String... loggers) {
    return new LogLines(loggers);
  }

  public static LogLines of(Class<?>... loggers) {
    return new LogLines(Stream.of(loggers).map(Class::getName).toArray(String[]::new));
  }

  public List<ILoggingEvent> events() {
    synchronized (appender) {
      return List.copyOf(appender.list);
    }
  }

  public List<String> messages() {
    return events().stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** Returns the messages of warnings and errors. */
  public List<String> complaints() {
    return events().stream()
        .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  public void clear() {
    synchronized (appender) {
      appender.list.clear();
    }
  }

  @Override
  public void close() {
    loggers.forEach(logger -> logger.detachAppender(appender));
  }
}
