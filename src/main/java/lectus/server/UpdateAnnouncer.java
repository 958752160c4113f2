package lectus.server;

import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents;
import lectus.feed.Registration;
import lectus.server.DatabaseEvent.Created;
import lectus.server.DatabaseEvent.Deleted;
import lectus.server.DatabaseEvent.Happening;
import lectus.server.DatabaseEvent.Updated;

/**
 * Tells listeners that a database moved: those of this node at once, other nodes over the event
 * bus, where commits that come faster than they are published become one event. For any thread.
 */
final class UpdateAnnouncer implements DatabaseEvents {
  private final String storeId;
  private final ListenerRegistry listeners;
  private final EventBus bus;
  private final Executor publisher;
  private final DeliveryOptions codec;
  private final Map<InstanceId, Sequence> unpublished = new ConcurrentHashMap<>();
  private final AtomicBoolean publishing = new AtomicBoolean();

  /**
   * @param publisher runs what publishes, in its own time
   * @param codec of {@link DatabaseEvent}
   */
  UpdateAnnouncer(
      String storeId,
      ListenerRegistry listeners,
      EventBus bus,
      Executor publisher,
      DatabaseEventCodec codec) {
    this.storeId = storeId;
    this.listeners = listeners;
    this.bus = bus;
    this.publisher = publisher;
    this.codec = new DeliveryOptions().setCodecName(codec.name());
  }

  @Override
  public Registration listen(DatabaseHandle database, Listener listener) {
    return listeners.add(database, listener);
  }

  @Override
  public Registration listenToAll(StoreListener listener) {
    return listeners.addToAll(listener);
  }

  void updated(InstanceId instance, Sequence last) {
    listeners.tell(instance, new Updated(last));
    unpublished.merge(instance, last, (a, b) -> a.compareTo(b) < 0 ? b : a);
    if (publishing.compareAndSet(false, true)) {
      publisher.execute(this::publish);
    }
  }

  /** Whatever is announced from here on starts a publication of its own. */
  private void publish() {
    publishing.set(false);
    for (InstanceId instance : unpublished.keySet()) {
      Sequence last = unpublished.remove(instance);
      if (last != null) {
        send(instance, new Updated(last));
      }
    }
  }

  @Override
  public void publishCreated(InstanceId instance) {
    announce(instance, new Created());
  }

  @Override
  public void publishDeleted(InstanceId instance) {
    announce(instance, new Deleted());
  }

  private void announce(InstanceId instance, Happening happening) {
    listeners.tell(instance, happening);
    send(instance, happening);
  }

  private void send(InstanceId instance, Happening happening) {
    DatabaseEvent event = new DatabaseEvent(storeId, instance, happening);
    bus.publish(event.address(), event, codec);
  }
}
