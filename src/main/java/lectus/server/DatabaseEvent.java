package lectus.server;

import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * What goes over the event bus when a database moved: never a document.
 *
 * @param storeId events of another store are dropped
 */
record DatabaseEvent(String storeId, InstanceId instance, Happening happening) {
  /** How many addresses carry events; a database's is chosen by a hash of its instance. */
  static final int ADDRESSES = 64;

  sealed interface Happening {}

  record Created() implements Happening {}

  /**
   * @param highest the highest sequence of the commits announced
   */
  record Updated(Sequence highest) implements Happening {}

  /** This life of the database is over. */
  record Deleted() implements Happening {}

  static String address(int number) {
    return "lectus.db_updated." + number;
  }

  String address() {
    return address(Math.floorMod(instance.hex().hashCode(), ADDRESSES));
  }
}
