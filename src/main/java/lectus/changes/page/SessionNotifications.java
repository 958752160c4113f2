package lectus.changes.page;

import java.util.function.Consumer;
import lectus.database.UserContext.Session;
import lectus.error.LectusError;

/**
 * Tells when a user who was let in no longer is: the account is gone or another one, on whichever
 * server that was changed. Thread-safe.
 */
@FunctionalInterface
public interface SessionNotifications {
  /** For servers on which nobody's account can change. */
  SessionNotifications NONE = (who, gone) -> () -> {};

  /**
   * Watches until the registration is closed.
   *
   * @param gone called with what to tell the client, on any thread, within a second after the
   *     change; must not wait and must not throw
   */
  Registration watch(Session who, Consumer<LectusError> gone);
}
