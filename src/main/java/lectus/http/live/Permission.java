package lectus.http.live;

import lectus.access.SecurityObject;
import lectus.access.UserContext;
import lectus.feed.FeedRights;

/** Whether a listener's client may see what is read. For one event loop. */
final class Permission {
  private final UserContext user;

  /** Those among whom the client was found last. */
  private SecurityObject known = SecurityObject.EVERYBODY;

  Permission(UserContext user) {
    this.user = user;
  }

  /** Whether the client is one of those who may see a page; usually they are as for the last. */
  boolean isAmong(SecurityObject readers) {
    boolean among = readers == known || FeedRights.includes(readers, user);
    known = among ? readers : known;
    return among;
  }
}
