package lectus.http.exchange;

import io.vertx.core.Context;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.function.Consumer;
import lectus.changes.page.Registration;
import lectus.changes.page.SessionNotifications;
import lectus.database.UserContext.Session;
import lectus.error.LectusError;

/**
 * Watches the admission of a feed's client: it ends with the session or token, and when the account
 * changes. For the event loop of a connection.
 */
public final class WatchedSession implements Registration {
  private static final LectusError EXPIRED =
      new LectusError.Unauthorized("Your session has ended. Log in again.");

  private final Context context;
  private final Consumer<LectusError> whenOver;
  private final Registration notices;
  private final OptionalLong timer;
  private boolean closed;

  /**
   * @param whenOver called once on the event loop, unless this is closed before
   */
  public WatchedSession(
      SessionNotifications notices,
      Context context,
      Session admission,
      Consumer<LectusError> whenOver) {
    this.context = context;
    this.whenOver = whenOver;
    this.timer = admission.until().map(this::timer).orElse(OptionalLong.empty());
    this.notices = notices.watch(admission, why -> Dispatch.post(context, () -> over(why)));
  }

  private OptionalLong timer(Instant until) {
    long millis = Math.max(1, Duration.between(Instant.now(), until).toMillis());
    return OptionalLong.of(context.owner().setTimer(millis, id -> over(EXPIRED)));
  }

  private void over(LectusError why) {
    if (!closed) {
      close();
      whenOver.accept(why);
    }
  }

  @Override
  public void close() {
    closed = true;
    notices.close();
    timer.ifPresent(context.owner()::cancelTimer);
  }
}
