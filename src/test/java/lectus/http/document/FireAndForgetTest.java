package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.Optional;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.metrics.RequestLabel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The log lines of writes whose clients do not wait for the outcome. */
final class FireAndForgetTest {
  private final Logger logger = (Logger) org.slf4j.LoggerFactory.getLogger("lectus");
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(log);
  }

  @Test
  void a_failure_that_was_foreseen_is_a_line_without_a_complaint() {
    unattended("r1").failed(FoundationDbError.NO_SPACE.exception("The disk is full."));
    unattended("r2").failed(new LectusException(new LectusError.NotFound("missing")));

    assertThat(log.list).hasSize(2);
    assertThat(log.list).allMatch(line -> line.getLevel() == Level.INFO);
    assertThat(log.list).allMatch(line -> line.getThrowableProxy() == null);
    assertThat(log.list.get(0).getFormattedMessage())
        .isEqualTo("batch edit failed: The disk is full.");
    assertThat(log.list.get(0).getKeyValuePairs())
        .extracting(field -> field.key + "=" + field.value)
        .containsExactly("request=r1", "user=ann", "db=work");
  }

  private static WriteReply.FireAndForget unattended(String request) {
    return new WriteReply.FireAndForget(
        new RequestLabel(request, Optional.of("ann"), Optional.of("work")));
  }

  @Test
  void what_nobody_foresaw_is_told_with_its_cause() {
    unattended("r").failed(new IllegalStateException("broken"));

    assertThat(log.list.get(0).getLevel()).isEqualTo(Level.ERROR);
    assertThat(log.list.get(0).getThrowableProxy()).isNotNull();
  }
}
