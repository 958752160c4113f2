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
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import lectus.metrics.LogFormat.LogTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.event.KeyValuePair;

/** Log events as they are configured without a file. */
final class LogOutputTest {
  private Instant now = Instant.EPOCH;
  private final LogTime time = new LogTime(() -> now);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1969-12-31T23:59:59.999Z",
        "2026-01-02T03:04:05.006Z",
        "2026-11-21T13:00:59.120Z",
        "2026-11-21T13:01:00.009Z"
      })
  void is_printed_with_three_digits_of_the_second(String text) {
    assertThat(at(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 999, 1_000, 60_000, 86_400_000})
  void goes_on_with_the_clock(long millis) {
    at("2026-11-21T23:59:59.250Z");

    String later = Instant.parse("2026-11-21T23:59:59.250Z").plusMillis(millis).toString();

    assertThat(Instant.parse(at(later))).isEqualTo(Instant.parse(later));
  }

  private String at(String instant) {
    now = Instant.parse(instant);
    StringBuilder line = new StringBuilder();
    time.appendTo(line);
    return line.toString();
  }

  @Nested
  class Lines {
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

  /** Events as JSON, as they are configured without a file. */
  @Nested
  class Json {
    private final LoggerContext context = new LoggerContext();

    @BeforeEach
    void configure() {
      new LogOutput.Setup().configure(context);
      LogOutput.writeJson(context);
    }

    @AfterEach
    void stop() {
      context.stop();
    }

    private LoggingEvent event(String message, Throwable failure) {
      Logger logger = context.getLogger("lectus.server.Some");
      return new LoggingEvent("", logger, Level.WARN, message, failure, null);
    }

    private String line(ILoggingEvent event) {
      AsyncAppender async =
          (AsyncAppender) context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("ASYNC_CONSOLE");
      OutputStreamAppender<ILoggingEvent> console =
          (OutputStreamAppender<ILoggingEvent>) async.getAppender("CONSOLE");
      return new String(console.getEncoder().encode(event), StandardCharsets.UTF_8);
    }

    @Test
    void an_event_is_one_object_with_its_fields() {
      LoggingEvent event = event("It is \"late\".", null);
      event.addKeyValuePair(new KeyValuePair("user", "ann"));
      event.addKeyValuePair(new KeyValuePair("micros", 17L));
      event.setInstant(Instant.parse("2026-01-02T03:04:05.006Z"));

      assertThat(line(event))
          .isEqualTo(
              "{\"time\":\"2026-01-02T03:04:05.006Z\",\"level\":\"WARN\",\"logger\":\"Some\","
                  + "\"user\":\"ann\",\"micros\":17,\"message\":\"It is \\\"late\\\".\"}\n");
    }

    @Test
    void the_trace_of_an_exception_does_not_leave_its_line() {
      String line = line(event("It failed.", new Exception("one\n{\"level\":\"INFO\"}")));

      assertThat(line).endsWith("\"}\n").containsOnlyOnce("\n");
      assertThat(new JsonObject(line).getString("trace"))
          .startsWith("java.lang.Exception: one\n{")
          .contains("\tat lectus.metrics.LogOutputTest$Json");
    }

    @Test
    void no_text_reaches_the_terminal_or_ends_a_line() {
      String text = "a\r\n\t\u0000\u001b[31m\u007f\u0085\u009b\u2028\u2029\\ \u00fc \ud83d\ude00";
      LoggingEvent event = event(text, null);
      event.addKeyValuePair(new KeyValuePair("a\"\nb", text));

      String line = line(event);

      assertThat(line.strip().chars())
          .noneMatch(c -> Character.isISOControl(c) || c == '\u2028' || c == '\u2029');
      assertThat(new JsonObject(line).getString("message")).isEqualTo(text);
      assertThat(new JsonObject(line).getString("a\"\nb")).isEqualTo(text);
    }

    @Test
    void half_of_a_pair_is_escaped() {
      assertThat(line(event("\ude00 \ud83d", null))).contains("\"\\ude00 \\ud83d\"");
    }
  }
}
