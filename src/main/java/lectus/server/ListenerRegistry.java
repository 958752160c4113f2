package lectus.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.DatabaseEvents.Listener;
import lectus.feed.DatabaseEvents.StoreListener;
import lectus.feed.Registration;
import lectus.store.Versionstamp;

/**
 * Who on this server listens to which database, and the highest sequence that has been heard of
 * each. For any thread.
 */
final class ListenerRegistry {
  private final Map<InstanceId, Audience> audiences = new ConcurrentHashMap<>();
  private final Set<StoreListener> storeAudience = ConcurrentHashMap.newKeySet();
  private final List<IntConsumer> watchers = new CopyOnWriteArrayList<>();

  /** Databases with listeners, by the address of their events. */
  private final AtomicIntegerArray listenedTo = new AtomicIntegerArray(DatabaseEvent.ADDRESSES);

  /**
   * @param watcher told the address of events whenever a database of it gets its first listener or
   *     loses its last
   */
  void watch(IntConsumer watcher) {
    watchers.add(watcher);
  }

  Registration add(DatabaseHandle database, Listener listener) {
    InstanceId instance = database.instance();
    int address = DatabaseEvent.address(instance);
    Audience fresh = new Audience(database);
    Audience joined =
        audiences.compute(
            instance,
            (same, known) -> {
              Audience audience = known != null ? known : fresh;
              audience.add(listener);
              if (audience == fresh) {
                listenedTo.incrementAndGet(address);
              }
              return audience;
            });
    if (joined == fresh) {
      changed(address);
    }
    return () -> remove(instance, listener);
  }

  private void remove(InstanceId instance, Listener listener) {
    int address = DatabaseEvent.address(instance);
    Audience left =
        audiences.computeIfPresent(
            instance,
            (same, audience) -> {
              boolean last = audience.remove(listener);
              if (last) {
                listenedTo.decrementAndGet(address);
              }
              return last ? null : audience;
            });
    if (left == null) {
      changed(address);
    }
  }

  Registration addToAll(StoreListener listener) {
    storeAudience.add(listener);
    changedEverywhere();
    return () -> {
      storeAudience.remove(listener);
      changedEverywhere();
    };
  }

  private void changedEverywhere() {
    for (int address = 0; address < DatabaseEvent.ADDRESSES; address++) {
      changed(address);
    }
  }

  private void changed(int address) {
    watchers.forEach(watcher -> watcher.accept(address));
  }

  /** Whether events of this address are of use here. */
  boolean needs(int address) {
    return listenedTo.get(address) > 0 || !storeAudience.isEmpty();
  }

  /** The databases that somebody listens to. */
  Map<InstanceId, DatabaseHandle> databases() {
    return audiences.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().database()));
  }

  boolean isAnybodyListeningToAll() {
    return !storeAudience.isEmpty();
  }

  boolean isEmpty() {
    return audiences.isEmpty() && storeAudience.isEmpty();
  }

  void created(InstanceId instance) {
    storeAudience.forEach(listener -> listener.created(instance));
  }

  void logged(DatabaseUpdate row) {
    storeAudience.forEach(listener -> listener.logged(row));
  }

  void storeMoved(Versionstamp highest) {
    storeAudience.forEach(listener -> listener.moved(highest));
  }

  /** Whether some listener of this very database was told what it had not heard. */
  boolean updated(InstanceId instance, Sequence highest) {
    storeAudience.forEach(listener -> listener.updated(instance, highest));
    Audience audience = audiences.get(instance);
    return audience != null && audience.updated(highest);
  }

  void deleted(InstanceId instance) {
    storeAudience.forEach(listener -> listener.deleted(instance));
    Audience audience = audiences.get(instance);
    if (audience != null) {
      audience.deleted();
    }
  }
}
