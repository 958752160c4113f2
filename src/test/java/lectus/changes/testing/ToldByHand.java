package lectus.changes.testing;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Versionstamp;

/** Events that a test triggers. */
public final class ToldByHand implements DatabaseNotifications {
  @Override
  public Versionstamp toldTo() {
    return Versionstamp.ZERO;
  }

  /** Nobody asks. */
  @Override
  public long ageNanos(long commitVersion) {
    return 0;
  }

  private final Map<InstanceId, Set<Listener>> listeners = new ConcurrentHashMap<>();
  private final Set<ToAll> toAll = ConcurrentHashMap.newKeySet();

  private record ToAll(WantedDatabases wanted, StoreListener listener) {}

  @Override
  public Registration listen(DatabaseHandle db, Listener listener) {
    Set<Listener> all =
        listeners.computeIfAbsent(db.instance(), absent -> ConcurrentHashMap.newKeySet());
    all.add(listener);
    return () -> all.remove(listener);
  }

  @Override
  public Registration listenToAll(WantedDatabases wanted, StoreListener listener) {
    ToAll one = new ToAll(wanted, listener);
    toAll.add(one);
    return () -> toAll.remove(one);
  }

  @Override
  public void publishCreated(InstanceId instance, DatabaseName name) {
    tellAll(name, Versionstamp.END);
  }

  @Override
  public void publishUpdated(
      InstanceId instance, DatabaseName name, Sequence sequence, TouchedShards shards) {
    listenersOf(instance).forEach(listener -> listener.updated(sequence, shards));
    tellAll(name, new Versionstamp(sequence.versionstamp()));
  }

  /** Notifies only listeners to this database. */
  public void publishUpdated(InstanceId instance, Sequence sequence) {
    listenersOf(instance).forEach(listener -> listener.updated(sequence, TouchedShards.ANY));
  }

  @Override
  public void publishDeleted(InstanceId instance, DatabaseName name) {
    publishDeleted(instance);
    tellAll(name, Versionstamp.END);
  }

  /** Notifies only listeners to this database. */
  public void publishDeleted(InstanceId instance) {
    listenersOf(instance).forEach(Listener::deleted);
  }

  /** Notifies listeners to many databases that the updates log has this row. */
  public void logged(DatabaseUpdate row) {
    tellAll(row.name(), row.at().endOfCommit());
  }

  private void tellAll(DatabaseName name, Versionstamp level) {
    for (ToAll one : toAll) {
      boolean begins = one.wanted.heads().stream().anyMatch(name.text()::startsWith);
      if (one.wanted.names().contains(name) || (begins && one.wanted.others().test(name))) {
        one.listener.moved(level);
      }
    }
  }

  public int listeners() {
    return toAll.size() + listeners.values().stream().mapToInt(Set::size).sum();
  }

  private Set<Listener> listenersOf(InstanceId instance) {
    return listeners.getOrDefault(instance, Set.of());
  }
}
