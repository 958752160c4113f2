package lectus.server;

import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents;
import lectus.feed.Registration;

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
  public Registration listenToAll(StoreListener listener) {
    return listeners.addToAll(listener);
  }

  @Override
  public void publishUpdated(InstanceId instance, Sequence sequence) {
    listeners.updated(instance, sequence);
    others.updated(instance, sequence);
  }

  /**
   * A look at the database found it here. If that is news, it is for others, too: whoever announced
   * it was not heard.
   *
   * @return whether it was news
   */
  boolean found(InstanceId instance, Sequence highest) {
    boolean news = listeners.updated(instance, highest);
    if (news) {
      others.updated(instance, highest);
    }
    return news;
  }

  /** A look at the database found it gone: others look for themselves. */
  void foundDeleted(InstanceId instance) {
    listeners.deleted(instance);
  }

  @Override
  public void publishCreated(InstanceId instance) {
    listeners.created(instance);
    others.created(instance);
  }

  @Override
  public void publishDeleted(InstanceId instance) {
    listeners.deleted(instance);
    others.deleted(instance);
  }
}
