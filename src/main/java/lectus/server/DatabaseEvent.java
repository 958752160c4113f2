package lectus.server;

import java.util.Optional;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * What goes over the event bus when a database moved: never a document.
 *
 * @param storeId events of another store are dropped
 * @param sequence the highest one of the commits announced; empty when this life of the database is
 *     over
 */
record DatabaseEvent(String storeId, InstanceId instance, Optional<Sequence> sequence) {
  /** How many addresses carry events; a database's is chosen by a hash of its instance. */
  static final int ADDRESSES = 64;

  static String address(int number) {
    return "lectus.db_updated." + number;
  }

  String address() {
    return address(Math.floorMod(instance.hex().hashCode(), ADDRESSES));
  }
}
