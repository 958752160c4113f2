package lectus.server;

import java.util.Arrays;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.feed.TouchedShards;

/**
 * What servers tell each other when a database moved: never a document.
 *
 * @param storeId events of another store are dropped
 * @param sequence the highest one of the commits announced; only of updates
 * @param name empty from servers of a version that did not tell it
 * @param shards where the new entries are; only of updates
 */
record DatabaseEvent(
    String storeId,
    InstanceId instance,
    Kind kind,
    Optional<Sequence> sequence,
    Optional<DatabaseName> name,
    TouchedShards shards) {
  /** How many addresses carry events; a database's is chosen by a hash of its instance. */
  static final int ADDRESSES = 64;

  enum Kind {
    CREATED,
    UPDATED,
    DELETED,
    /** What a newer server tells; this one does not know of it. */
    OTHER;

    static Kind of(String name) {
      return Arrays.stream(values())
          .filter(kind -> kind.name().equals(name))
          .findAny()
          .orElse(OTHER);
    }
  }

  static DatabaseEvent created(String storeId, InstanceId instance, DatabaseName name) {
    return without(Kind.CREATED, storeId, instance, name);
  }

  static DatabaseEvent updated(
      String storeId,
      InstanceId instance,
      DatabaseName name,
      Sequence highest,
      TouchedShards shards) {
    return new DatabaseEvent(
        storeId, instance, Kind.UPDATED, Optional.of(highest), Optional.of(name), shards);
  }

  static DatabaseEvent deleted(String storeId, InstanceId instance, DatabaseName name) {
    return without(Kind.DELETED, storeId, instance, name);
  }

  private static DatabaseEvent without(
      Kind kind, String storeId, InstanceId instance, DatabaseName name) {
    return new DatabaseEvent(
        storeId, instance, kind, Optional.empty(), Optional.of(name), TouchedShards.ANY);
  }

  /** Of two updates of one life of a database one that tells of both. */
  DatabaseEvent and(DatabaseEvent other) {
    boolean isLower = sequence.orElseThrow().compareTo(other.sequence.orElseThrow()) < 0;
    Optional<Sequence> highest = isLower ? other.sequence : sequence;
    return new DatabaseEvent(storeId, instance, kind, highest, name, shards.and(other.shards));
  }

  /** The address of events of this life of a database, 0 to 63. */
  static int address(InstanceId instance) {
    return Math.floorMod(instance.hex().hashCode(), ADDRESSES);
  }

  int address() {
    return address(instance);
  }
}
