package lectus.metrics;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AsyncAppenderBase;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** The process's log, whose lines take the form that the administrator wants. */
public final class LogOutput {
  /** The appender whose lines do; others are of a configuration of the administrator's own. */
  private static final String CONSOLE = "CONSOLE";

  private static volatile boolean isOnStandardOutput;

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

  /**
   * Lines go to standard output from now on. Until then they go to standard error: the first line
   * on a server's standard output is its address, and other commands have their results there.
   */
  public static void toStandardOutput() {
    isOnStandardOutput = true;
  }

  static void writeJson(LoggerContext logback) {
    logback
        .getLoggerList()
        .forEach(logger -> logger.iteratorForAppenders().forEachRemaining(LogOutput::writeJson));
  }

  private static void writeJson(Appender<ILoggingEvent> appender) {
    if (appender instanceof OutputStreamAppender<ILoggingEvent> console
        && CONSOLE.equals(console.getName())) {
      LogLines lines = LogLines.of(LogFormat.JSON);
      lines.setContext(console.getContext());
      lines.start();
      console.setEncoder(lines);
    } else if (appender instanceof AsyncAppenderBase<ILoggingEvent> async) {
      async.iteratorForAppenders().forEachRemaining(LogOutput::writeJson);
    }
  }

  /**
   * The log's configuration, unless {@code -Dlogback.configurationFile} names another one. Logback
   * finds it among the services. A file of XML would take a fifth of a start to read.
   */
  public static final class Setup extends ContextAwareBase implements Configurator {
    private static final String OWN_FILE = "logback.configurationFile";

    /** Where the disk is slower than the requests, lines of INFO are dropped. */
    private static final int QUEUED_LINES = 16_384;

    /** One message has many requests' lines. */
    private static final int QUEUED_REQUESTS = 256;

    private static final Map<String, Level> LEVELS =
        Map.of(
            "io.netty",
            Level.WARN,
            "io.vertx",
            Level.WARN,
            "com.hazelcast",
            Level.WARN,
            // Events to a member that is gone, until Hazelcast has noticed.
            "io.vertx.core.eventbus.impl.clustered.ClusteredEventBus",
            Level.ERROR,
            // Clients that begin HTTP/2 and go on with something else: Vert.x has no other place
            // for it.
            "io.vertx.core.net.impl.ConnectionBase",
            Level.OFF,
            // Connections that come while the server stops.
            "io.netty.bootstrap.ServerBootstrap",
            Level.ERROR);

    @Override
    public ExecutionStatus configure(LoggerContext logback) {
      if (System.getProperty(OWN_FILE) != null) {
        return ExecutionStatus.INVOKE_NEXT_IF_ANY;
      }
      LEVELS.forEach((name, level) -> logback.getLogger(name).setLevel(level));
      Logger root = logback.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
      root.setLevel(Level.INFO);
      root.addAppender(appender(logback, CONSOLE, LogLines.of(LogFormat.TEXT), QUEUED_LINES));
      // The key access-log switches it off more cheaply than its level.
      Logger access = logback.getLogger("lectus.access");
      access.setLevel(Level.INFO);
      access.setAdditive(false);
      access.addAppender(appender(logback, "ACCESS", LogLines.whole(), QUEUED_REQUESTS));
      return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Requests are never held up by a log: a thread of its own writes it. */
    private static AsyncAppender appender(
        LoggerContext logback, String name, Encoder<ILoggingEvent> lines, int queued) {
      lines.setContext(logback);
      lines.start();
      OutputStreamAppender<ILoggingEvent> console = new OutputStreamAppender<>();
      console.setContext(logback);
      console.setName(name);
      console.setEncoder(lines);
      console.setImmediateFlush(false);
      console.setOutputStream(new Standard());
      console.start();
      AsyncAppender async = new AsyncAppender();
      async.setContext(logback);
      async.setName("ASYNC_" + name);
      async.setQueueSize(queued);
      async.setNeverBlock(true);
      async.addAppender(console);
      async.start();
      return async;
    }
  }

  /** The standard output or error of the process, which outlives the log. */
  private static final class Standard extends OutputStream {
    @Override
    public void write(int octet) {
      write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int from, int length) {
      if (isOnStandardOutput) {
        System.out.write(octets, from, length);
      } else {
        PrintStream err = System.err;
        err.write(octets, from, length);
        err.flush();
      }
    }

    @Override
    public void flush() throws IOException {
      System.out.flush();
    }
  }
}
