package lectus.log;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AsyncAppenderBase;
import ch.qos.logback.core.OutputStreamAppender;
import org.slf4j.LoggerFactory;

/** The process's log, whose lines take the form that the administrator wants. */
public final class LogOutput {
  /** The appender in logback's configuration whose lines do; others are the administrator's own. */
  private static final String CONSOLE = "CONSOLE";

  private LogOutput() {}

  /**
   * Initializes the log on this thread alone. While one thread initializes it, other threads'
   * loggers buffer their lines and print a warning on standard error.
   */
  public static void open(LogFormat format) {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logback
        && format == LogFormat.JSON) {
      writeJson(logback);
    }
  }

  static void writeJson(LoggerContext logback) {
    logback
        .getLoggerList()
        .forEach(logger -> logger.iteratorForAppenders().forEachRemaining(LogOutput::writeJson));
  }

  private static void writeJson(Appender<ILoggingEvent> appender) {
    if (appender instanceof OutputStreamAppender<ILoggingEvent> console
        && CONSOLE.equals(console.getName())) {
      JsonLines lines = new JsonLines();
      lines.setContext(console.getContext());
      lines.start();
      console.setEncoder(lines);
    } else if (appender instanceof AsyncAppenderBase<ILoggingEvent> async) {
      async.iteratorForAppenders().forEachRemaining(LogOutput::writeJson);
    }
  }
}
