package lectus.feed.updates;

import java.util.concurrent.atomic.AtomicReference;
import lectus.feed.DatabaseEvents;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.feed.WantedDatabases;
import lectus.store.Versionstamp;

/** The level of what was heard of the databases of the store, or some of them. For any thread. */
public final class StoreNews {
  private final DatabaseEvents events;
  private final WantedDatabases wanted;
  private final AtomicReference<Versionstamp> heard = new AtomicReference<>(Versionstamp.ZERO);

  public StoreNews(DatabaseEvents events, WantedDatabases wanted) {
    this.events = events;
    this.wanted = wanted;
  }

  public Registration listen(LiveSource.Listener listener) {
    return events.listenToAll(
        wanted,
        level -> {
          heard.accumulateAndGet(level, StoreNews::higher);
          listener.told();
        });
  }

  private static Versionstamp higher(Versionstamp one, Versionstamp other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  /** As {@link #isBehind}, where all of a commit is told at once. */
  boolean isOfLaterCommit(StorePosition position) {
    return heard.get().startOfCommit().compareTo(position.at()) > 0;
  }

  public boolean isBehind(StorePosition position) {
    return heard.get().compareTo(position.at()) > 0;
  }
}
