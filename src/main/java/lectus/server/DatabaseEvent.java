package lectus.server;

import java.util.Optional;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * What servers tell each other when a database moved: never a document.
 *
 * @param storeId events of another store are dropped
 * @param sequence the highest one of the commits announced; only of updates
 */
record DatabaseEvent(String storeId, InstanceId instance, Kind kind, Optional<Sequence> sequence) {
  /** How many addresses carry events; a database's is chosen by a hash of its instance. */
  static final int ADDRESSES = 64;

  enum Kind {
    CREATED,
    UPDATED,
    DELETED
  }

  static DatabaseEvent created(String storeId, InstanceId instance) {
    return new DatabaseEvent(storeId, instance, Kind.CREATED, Optional.empty());
  }

  static DatabaseEvent updated(String storeId, InstanceId instance, Sequence highest) {
    return new DatabaseEvent(storeId, instance, Kind.UPDATED, Optional.of(highest));
  }

  static DatabaseEvent deleted(String storeId, InstanceId instance) {
    return new DatabaseEvent(storeId, instance, Kind.DELETED, Optional.empty());
  }

  /** The address of events of this life of a database, 0 to 63. */
  static int address(InstanceId instance) {
    return Math.floorMod(instance.hex().hashCode(), ADDRESSES);
  }

  int address() {
    return address(instance);
  }
}
