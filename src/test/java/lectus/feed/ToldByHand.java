package lectus.feed;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/** Events that happen when a test says so. */
public final class ToldByHand implements DatabaseEvents {
  private final Map<InstanceId, Set<Listener>> listeners = new ConcurrentHashMap<>();

  @Override
  public Registration listen(DatabaseHandle database, Listener listener) {
    Set<Listener> all =
        listeners.computeIfAbsent(database.instance(), absent -> ConcurrentHashMap.newKeySet());
    all.add(listener);
    return () -> all.remove(listener);
  }

  @Override
  public Registration listenToAll(StoreListener listener) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void publishCreated(InstanceId instance) {}

  @Override
  public void publishDeleted(InstanceId instance) {
    listenersOf(instance).forEach(Listener::deleted);
  }

  public void updated(InstanceId instance, Sequence highest) {
    listenersOf(instance).forEach(listener -> listener.updated(highest));
  }

  public int listeners() {
    return listeners.values().stream().mapToInt(Set::size).sum();
  }

  private Set<Listener> listenersOf(InstanceId instance) {
    return listeners.getOrDefault(instance, Set.of());
  }
}
