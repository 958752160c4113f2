package lectus.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.feed.DatabaseEvents.Listener;
import lectus.feed.DatabaseEvents.StoreListener;
import lectus.feed.Registration;
import lectus.server.DatabaseEvent.Created;
import lectus.server.DatabaseEvent.Happening;
import lectus.server.DatabaseEvent.Updated;

/** Who on this node listens to which database, or to all. For any thread. */
final class ListenerRegistry {
  private final Map<InstanceId, Audience> audiences = new ConcurrentHashMap<>();
  private final Set<StoreListener> toAll = ConcurrentHashMap.newKeySet();

  private record Audience(DatabaseHandle database, Set<Listener> listeners) {}

  Registration add(DatabaseHandle database, Listener listener) {
    audiences.compute(
        database.instance(),
        (instance, known) -> {
          Audience audience =
              known != null ? known : new Audience(database, ConcurrentHashMap.newKeySet());
          audience.listeners().add(listener);
          return audience;
        });
    return () -> remove(database.instance(), listener);
  }

  private void remove(InstanceId instance, Listener listener) {
    audiences.computeIfPresent(
        instance,
        (same, audience) -> {
          audience.listeners().remove(listener);
          return audience.listeners().isEmpty() ? null : audience;
        });
  }

  Registration addToAll(StoreListener listener) {
    toAll.add(listener);
    return () -> toAll.remove(listener);
  }

  /** The databases that somebody listens to by themselves. */
  List<DatabaseHandle> databases() {
    return audiences.values().stream().map(Audience::database).toList();
  }

  boolean isEmpty() {
    return audiences.isEmpty() && toAll.isEmpty();
  }

  void tell(InstanceId instance, Happening happening) {
    Audience audience = audiences.get(instance);
    if (audience != null) {
      audience.listeners().forEach(listener -> tell(listener, happening));
    }
    toAll.forEach(listener -> tell(listener, instance, happening));
  }

  /** Nobody listens to a database before it is there. */
  private static void tell(Listener listener, Happening happening) {
    if (happening instanceof Updated updated) {
      listener.updated(updated.highest());
    } else if (happening instanceof DatabaseEvent.Deleted) {
      listener.deleted();
    }
  }

  private static void tell(StoreListener listener, InstanceId instance, Happening happening) {
    if (happening instanceof Updated updated) {
      listener.updated(instance, updated.highest());
    } else if (happening instanceof Created) {
      listener.created(instance);
    } else {
      listener.deleted(instance);
    }
  }
}
