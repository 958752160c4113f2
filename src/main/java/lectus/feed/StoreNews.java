package lectus.feed;

import java.util.concurrent.atomic.AtomicReference;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Versionstamp;

/** The level of what was heard of all databases of the store. For any thread. */
final class StoreNews {
  private final DatabaseEvents events;
  private final AtomicReference<Versionstamp> heard = new AtomicReference<>(Versionstamp.ZERO);

  StoreNews(DatabaseEvents events) {
    this.events = events;
  }

  Registration listen(LiveSource.Listener listener) {
    return events.listenToAll(
        new DatabaseEvents.StoreListener() {
          /** When that was is not known, so it may be behind every position. */
          @Override
          public void created(InstanceId instance) {
            raise(Versionstamp.END);
            listener.told();
          }

          @Override
          public void updated(InstanceId instance, Sequence highest) {
            raise(new Versionstamp(highest.versionstamp()));
            listener.told();
          }

          @Override
          public void deleted(InstanceId instance) {
            raise(Versionstamp.END);
            listener.told();
          }
        });
  }

  private void raise(Versionstamp level) {
    heard.accumulateAndGet(level, StoreNews::higher);
  }

  private static Versionstamp higher(Versionstamp one, Versionstamp other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  /** As {@link #isBehind}, where all of a commit is told at once. */
  boolean isOfLaterCommit(StorePosition position) {
    return heard.get().startOfCommit().compareTo(position.at()) > 0;
  }

  boolean isBehind(StorePosition position) {
    return heard.get().compareTo(position.at()) > 0;
  }
}
