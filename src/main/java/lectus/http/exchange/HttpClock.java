package lectus.http.exchange;

import io.vertx.core.Vertx;
import java.time.Clock;
import lectus.http.message.HttpDate;

/** The Date header, formatted once a second for all answers of an event loop. */
final class HttpClock {
  private static final long REFRESH_MILLIS = 1_000;

  private final Clock clock;
  private String httpDate;

  HttpClock(Clock clock) {
    this.clock = clock;
    refresh();
  }

  /** Keeps the header current on the calling event loop, until that context is closed. */
  void start(Vertx vertx) {
    vertx.setPeriodic(REFRESH_MILLIS, timer -> refresh());
  }

  String httpDate() {
    return httpDate;
  }

  private void refresh() {
    httpDate = HttpDate.format(clock.instant());
  }
}
