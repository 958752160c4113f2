package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.read.ListAppender;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Log events as they are configured without a file. */
final class LogOutputTest {
  private final LoggerContext context = new LoggerContext();

  @BeforeEach
  void configure() {
    new LogOutput.Setup().configure(context);
  }

  @AfterEach
  void stop() {
    context.stop();
  }

  private String line(String message, Throwable failure) {
    return text(new LoggingEvent("", logger(), Level.ERROR, message, failure, null));
  }

  private Logger logger() {
    return context.getLogger(Logger.ROOT_LOGGER_NAME);
  }

  private String text(ILoggingEvent event) {
    AsyncAppender async = (AsyncAppender) logger().getAppender("ASYNC_CONSOLE");
    OutputStreamAppender<ILoggingEvent> console =
        (OutputStreamAppender<ILoggingEvent>) async.getAppender("CONSOLE");
    return new String(console.getEncoder().encode(event), StandardCharsets.UTF_8);
  }

  @Test
  void a_message_is_one_line_whatever_it_says() {
    String line = line("a\r\n2026-01-01T00:00:00.000Z ERROR b\u001b[31m\u0085", null);
    assertThat(line)
        .endsWith(" a??2026-01-01T00:00:00.000Z ERROR b?[31m?\n")
        .containsOnlyOnce("\n");
  }

  @Test
  void the_request_that_a_line_is_about_stands_before_its_message() {
    Optional<String> user = Optional.of("ann\n2026 b=\u00fc");
    Logger logger = context.getLogger("lectus.Some");
    logger.setAdditive(false);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    logger.addAppender(logged);
    new RequestLabel("17", user, Optional.of("a/b c")).on(logger.atError()).log("It failed.");
    assertThat(text(logged.list.get(0)))
        .endsWith(" ERROR Some request=17 user=ann%0A2026+b%3D%C3%BC db=a%2Fb+c It failed.\n");
  }

  @Test
  void nothing_in_an_exception_begins_a_line_but_its_trace() {
    Exception cause = new Exception("one\ntwo\r\nthree\u001b[31m");
    Exception failure = new Exception("2026\n2026-01-01T00:00:00.000Z ERROR all is lost", cause);
    failure.addSuppressed(new Exception("four\nfive"));
    String text = line("It failed.", failure);
    assertThat(text).contains("2026?2026-01-01T00:00:00.000Z ERROR all is lost\n\tat ");
    assertThat(text).contains("\nCaused by: java.lang.Exception: one?two??three?[31m\n");
    assertThat(text).contains("\n\tSuppressed: java.lang.Exception: four?five\n");
    assertThat(text.lines().skip(2))
        .allMatch(line -> line.startsWith("\t") || line.startsWith("Caused by: "));
    assertThat(text).endsWith("\n");
  }

  @Test
  void clients_that_break_off_into_nonsense_are_not_logged() {
    Logger connections = context.getLogger("io.vertx.core.net.impl.ConnectionBase");
    assertThat(connections.isErrorEnabled()).isFalse();
    assertThat(context.getLogger("lectus").isInfoEnabled()).isTrue();
  }
}
