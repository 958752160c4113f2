package lectus.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

/** Events as JSON, as they are configured without a file. */
final class JsonLinesTest {
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
        .contains("\tat lectus.metrics.JsonLinesTest");
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
