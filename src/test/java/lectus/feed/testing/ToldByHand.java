package lectus.feed.testing;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents;
import lectus.feed.Registration;

/** Events that happen when a test says so. */
public final class ToldByHand implements DatabaseEvents {
  private final Map<InstanceId, Set<Listener>> listeners = new ConcurrentHashMap<>();
  private final Set<StoreListener> toAll = ConcurrentHashMap.newKeySet();

  @Override
  public Registration listen(DatabaseHandle database, Listener listener) {
    Set<Listener> all =
        listeners.computeIfAbsent(database.instance(), absent -> ConcurrentHashMap.newKeySet());
    all.add(listener);
    return () -> all.remove(listener);
  }

  @Override
  public Registration listenToAll(StoreListener listener) {
    toAll.add(listener);
    return () -> toAll.remove(listener);
  }

  @Override
  public void publishCreated(InstanceId instance) {
    toAll.forEach(listener -> listener.created(instance));
  }

  @Override
  public void publishUpdated(InstanceId instance, Sequence sequence) {
    listenersOf(instance).forEach(listener -> listener.updated(sequence));
    toAll.forEach(listener -> listener.updated(instance, sequence));
  }

  @Override
  public void publishDeleted(InstanceId instance) {
    listenersOf(instance).forEach(Listener::deleted);
    toAll.forEach(listener -> listener.deleted(instance));
  }

  public void logged(DatabaseUpdate row) {
    toAll.forEach(listener -> listener.logged(row));
  }

  public int listeners() {
    return toAll.size() + listeners.values().stream().mapToInt(Set::size).sum();
  }

  private Set<Listener> listenersOf(InstanceId instance) {
    return listeners.getOrDefault(instance, Set.of());
  }
}
