package lectus.changes.notify;

import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.store.Versionstamp;

/**
 * Tells listeners that a database moved: those of this server at once, then the other servers.
 * Thread-safe.
 */
public final class UpdateAnnouncer implements DatabaseNotifications, Measured {
  private final ListenerRegistry listeners;
  private final Optional<CoalescedAnnouncements> others;
  private final LongAdder unannounced = new LongAdder();

  /**
   * @param others announces to the other servers; empty for a server that stands alone
   */
  public UpdateAnnouncer(ListenerRegistry listeners, Optional<CoalescedAnnouncements> others) {
    this.listeners = listeners;
    this.others = others;
  }

  @Override
  public Versionstamp toldTo() {
    return listeners.store.settled();
  }

  @Override
  public long ageNanos(long commitVersion) {
    return listeners.clock().ageNanos(commitVersion);
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_feed_databases", "Databases with live feeds.", listeners.audiences::size);
    meters.count(
        "lectus_poller_news",
        "Changes that the poller found and no event had announced.",
        unannounced::sum);
  }

  @Override
  public Registration listen(DatabaseHandle db, Listener listener) {
    return listeners.add(db, listener);
  }

  @Override
  public Registration listenToAll(WantedDatabases wanted, StoreListener listener) {
    return listeners.addToAll(wanted, listener);
  }

  @Override
  public void publishUpdated(
      InstanceId instance, DatabaseName name, Sequence sequence, TouchedShards shards) {
    listeners.updated(instance, Optional.of(name), sequence, shards);
    others.ifPresent(it -> it.updated(instance, name, sequence, shards));
  }

  /**
   * Notes that a poll found the database at this sequence. If that is news, it is announced to
   * other servers, too: the original announcement was lost.
   *
   * @param heardBefore what had been heard of it before the poll began
   * @return whether it was news
   */
  boolean found(InstanceId instance, Optional<Sequence> heardBefore, Sequence highest) {
    Optional<DatabaseName> name = listeners.name(instance);
    boolean news = listeners.found(instance, heardBefore, highest);
    if (news) {
      unannounced.add(heardBefore.isPresent() ? 1 : 0);
      name.ifPresent(
          it -> others.ifPresent(to -> to.updated(instance, it, highest, TouchedShards.ANY)));
    }
    return news;
  }

  /** Notes that a poll found the database deleted. Other servers poll for themselves. */
  void foundDeleted(InstanceId instance) {
    listeners.deleted(instance, listeners.name(instance));
  }

  @Override
  public void publishCreated(InstanceId instance, DatabaseName name) {
    listeners.created(Optional.of(name));
    others.ifPresent(it -> it.created(instance, name));
  }

  @Override
  public void publishDeleted(InstanceId instance, DatabaseName name) {
    listeners.deleted(instance, Optional.of(name));
    others.ifPresent(it -> it.deleted(instance, name));
  }
}
