package lectus.server;

import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents;
import lectus.feed.Registration;
import lectus.feed.TouchedShards;
import lectus.feed.WantedDatabases;

/**
 * Tells listeners that a database moved: those of this server at once, then the other servers. For
 * any thread.
 */
final class UpdateAnnouncer implements DatabaseEvents {
  private final ListenerRegistry listeners;
  private final Announcements others;

  UpdateAnnouncer(ListenerRegistry listeners, Announcements others) {
    this.listeners = listeners;
    this.others = others;
  }

  @Override
  public Registration listen(DatabaseHandle database, Listener listener) {
    return listeners.add(database, listener);
  }

  @Override
  public Registration listenToAll(WantedDatabases wanted, StoreListener listener) {
    return listeners.addToAll(wanted, listener);
  }

  @Override
  public void publishUpdated(
      InstanceId instance, DatabaseName name, Sequence sequence, TouchedShards shards) {
    listeners.updated(instance, Optional.of(name), sequence, shards);
    others.updated(instance, name, sequence, shards);
  }

  /**
   * A look at the database found it here. If that is news, it is for others, too: whoever announced
   * it was not heard.
   *
   * @param heardBefore what had been heard of it before the look began
   * @return whether it was news
   */
  boolean found(InstanceId instance, Optional<Sequence> heardBefore, Sequence highest) {
    Optional<DatabaseName> name = listeners.name(instance);
    boolean news = listeners.found(instance, heardBefore, highest);
    if (news) {
      name.ifPresent(it -> others.updated(instance, it, highest, TouchedShards.ANY));
    }
    return news;
  }

  /** A look at the database found it gone: others look for themselves. */
  void foundDeleted(InstanceId instance) {
    listeners.deleted(instance, listeners.name(instance));
  }

  @Override
  public void publishCreated(InstanceId instance, DatabaseName name) {
    listeners.created(Optional.of(name));
    others.created(instance, name);
  }

  @Override
  public void publishDeleted(InstanceId instance, DatabaseName name) {
    listeners.deleted(instance, Optional.of(name));
    others.deleted(instance, name);
  }
}
