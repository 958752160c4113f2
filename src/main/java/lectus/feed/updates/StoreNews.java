package lectus.feed.updates;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents;
import lectus.feed.LiveSource;
import lectus.feed.Registration;
import lectus.store.Versionstamp;

/** The level of what was heard of the databases of the store, or some of them. For any thread. */
public final class StoreNews {
  private final DatabaseEvents events;
  private final Predicate<InstanceId> isOfUse;
  private final Predicate<DatabaseName> isWanted;
  private final AtomicReference<Versionstamp> heard = new AtomicReference<>(Versionstamp.ZERO);

  /**
   * @param isOfUse whether what happens to an instance may be worth a look
   * @param isWanted whether what happens to a database of this name is
   */
  public StoreNews(
      DatabaseEvents events, Predicate<InstanceId> isOfUse, Predicate<DatabaseName> isWanted) {
    this.events = events;
    this.isOfUse = isOfUse;
    this.isWanted = isWanted;
  }

  public Registration listen(LiveSource.Listener listener) {
    return events.listenToAll(
        new DatabaseEvents.StoreListener() {
          /** When that was is not known, so it may be behind every position. */
          @Override
          public void created(InstanceId instance) {
            hear(instance, Versionstamp.END, listener);
          }

          @Override
          public void updated(InstanceId instance, Sequence highest) {
            hear(instance, new Versionstamp(highest.versionstamp()), listener);
          }

          @Override
          public void deleted(InstanceId instance) {
            hear(instance, Versionstamp.END, listener);
          }

          @Override
          public void logged(DatabaseUpdate row) {
            if (isWanted.test(row.name())) {
              rise(row.at().endOfCommit(), listener);
            }
          }

          @Override
          public void moved(Versionstamp highest) {
            rise(highest, listener);
          }
        });
  }

  private void hear(InstanceId instance, Versionstamp level, LiveSource.Listener listener) {
    if (isOfUse.test(instance)) {
      rise(level, listener);
    }
  }

  private void rise(Versionstamp level, LiveSource.Listener listener) {
    heard.accumulateAndGet(level, StoreNews::higher);
    listener.told();
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
