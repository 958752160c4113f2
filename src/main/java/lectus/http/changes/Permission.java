package lectus.http.changes;

import java.util.function.Consumer;
import lectus.changes.page.FeedRights;
import lectus.changes.page.Registration;
import lectus.changes.page.SessionNotifications;
import lectus.database.MissingRight;
import lectus.database.SecurityObject;
import lectus.error.LectusError;

/** Whether a listener's client may see what is read. For one event loop. */
final class Permission {
  private final FeedClient client;
  private Registration watching = () -> {};

  /** Those among whom the client was found last. */
  private SecurityObject known = SecurityObject.EVERYBODY;

  Permission(FeedClient client) {
    this.client = client;
  }

  /** Watches until the client is not admitted any more, unless somebody else does that. */
  void watch(SessionNotifications admissions, Consumer<LectusError> whenOver) {
    if (!client.isWatched()) {
      watching = new WatchedSession(admissions, client.context(), client.admission(), whenOver);
    }
  }

  void close() {
    watching.close();
  }

  /** Whether the client is one of those who may see a page; usually they are as for the last. */
  boolean isAmong(SecurityObject readers) {
    boolean among = readers == known || FeedRights.includes(readers, client.user());
    known = among ? readers : known;
    return among;
  }

  /** Returns what a client is told who may not see more. */
  LectusError refusal() {
    return MissingRight.ofMember(client.user());
  }
}
