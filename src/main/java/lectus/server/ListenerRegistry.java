package lectus.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.http.DatabaseEvents.Listener;
import lectus.http.DatabaseEvents.Registration;

/** Who on this node listens to which database. For any thread. */
final class ListenerRegistry {
  private final Map<InstanceId, Audience> audiences = new ConcurrentHashMap<>();

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

  /** The databases that somebody listens to. */
  List<DatabaseHandle> databases() {
    return audiences.values().stream().map(Audience::database).toList();
  }

  boolean isEmpty() {
    return audiences.isEmpty();
  }

  void updated(InstanceId instance, Sequence highest) {
    Audience audience = audiences.get(instance);
    if (audience != null) {
      audience.listeners().forEach(listener -> listener.updated(highest));
    }
  }

  void deleted(InstanceId instance) {
    Audience audience = audiences.get(instance);
    if (audience != null) {
      audience.listeners().forEach(Listener::deleted);
    }
  }
}
