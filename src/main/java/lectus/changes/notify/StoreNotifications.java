package lectus.changes.notify;

import java.util.concurrent.atomic.AtomicReference;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.LiveSource;
import lectus.changes.page.Registration;
import lectus.store.Versionstamp;

/** The level announced for all or some databases of the store. Thread-safe. */
public final class StoreNotifications {
  private final DatabaseNotifications events;
  private final WantedDatabases wanted;
  private final AtomicReference<Versionstamp> heard = new AtomicReference<>(Versionstamp.ZERO);

  public StoreNotifications(DatabaseNotifications events, WantedDatabases wanted) {
    this.events = events;
    this.wanted = wanted;
  }

  public Registration listen(LiveSource.Listener listener) {
    return events.listenToAll(
        wanted,
        level -> {
          heard.accumulateAndGet(level, StoreNotifications::higher);
          listener.told();
        });
  }

  private static Versionstamp higher(Versionstamp one, Versionstamp other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  /** Like {@link #isBehind}, for sources that deliver a commit as a whole. */
  boolean isOfLaterCommit(StorePosition position) {
    return heard.get().startOfCommit().compareTo(position.at()) > 0;
  }

  public boolean isBehind(StorePosition position) {
    return heard.get().compareTo(position.at()) > 0;
  }
}
