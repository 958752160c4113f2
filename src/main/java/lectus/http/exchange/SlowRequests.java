package lectus.http.exchange;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import lectus.metrics.LogFormat.SentText;
import lectus.metrics.Stage;
import lectus.metrics.StageTimes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs requests that took long, each with what it waited for. When everything is slow, some of them
 * have to do. For one event loop.
 */
final class SlowRequests {
  private static final Logger LOG = LoggerFactory.getLogger("lectus.slow");

  private static final int SWITCHING_PROTOCOLS = 101;

  /** Lines of one event loop. */
  static final int MAX_PER_SECOND = 5;

  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long thresholdNanos;
  private final LongSupplier nanoTime;
  private long secondBegan;
  private int inThisSecond;
  private int unlogged;

  /**
   * @param thresholdMillis 0: none is logged
   */
  SlowRequests(int thresholdMillis, LongSupplier nanoTime) {
    this.thresholdNanos = TimeUnit.MILLISECONDS.toNanos(thresholdMillis);
    this.nanoTime = nanoTime;
    this.secondBegan = nanoTime.getAsLong();
  }

  boolean isOn() {
    return thresholdNanos > 0;
  }

  /** Feeds and sockets last as long as their clients like. */
  void ended(Exchange exchange, int status, StageTimes times) {
    long took = System.nanoTime() - exchange.startNanos();
    if (isOn() && took >= thresholdNanos && !exchange.isFeed() && status != SWITCHING_PROTOCOLS) {
      if (mayLog()) {
        log(exchange, status, took, times);
      } else {
        unlogged++;
      }
    }
  }

  /** Whether a line may be written now. */
  boolean mayLog() {
    long now = nanoTime.getAsLong();
    if (now - secondBegan >= SECOND_NANOS) {
      secondBegan = now;
      inThisSecond = 0;
    }
    return inThisSecond++ < MAX_PER_SECOND;
  }

  private void log(Exchange exchange, int status, long took, StageTimes times) {
    LoggingEventBuilder line = exchange.label().on(LOG.atWarn());
    line = line.addKeyValue("method", new SentText(exchange.request().method().name()));
    line = line.addKeyValue("path", new SentText(exchange.rawPath()));
    line = line.addKeyValue("status", status).addKeyValue("micros", micros(took));
    for (Stage stage : Stage.values()) {
      if (times.count(stage) > 0) {
        line = line.addKeyValue(stage.text(), times.count(stage));
        line = line.addKeyValue(stage.text() + "_micros", micros(times.nanos(stage)));
      }
    }
    if (unlogged > 0) {
      line = line.addKeyValue("unlogged", unlogged);
      unlogged = 0;
    }
    line.log("{}", sentence(took, times));
  }

  /** Names what took at least half of the time. */
  private static String sentence(long took, StageTimes times) {
    Stage longest = times.longest();
    return times.ownNanos(longest) >= took / 2
        ? "slow request, which waited for " + longest.text()
        : "slow request";
  }

  private static long micros(long nanos) {
    return TimeUnit.NANOSECONDS.toMicros(nanos);
  }
}
