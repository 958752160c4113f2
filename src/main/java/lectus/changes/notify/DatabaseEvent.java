package lectus.changes.notify;

import java.util.Arrays;
import java.util.Optional;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * An event that tells other servers that a database moved; it never contains a document.
 *
 * @param storeId events of another store are dropped
 * @param sequence the highest one of the commits announced; only of updates
 * @param name empty if the sending server's version did not send it
 * @param shards where the new entries are; only of updates
 */
public record DatabaseEvent(
    String storeId,
    InstanceId instance,
    Kind kind,
    Optional<Sequence> sequence,
    Optional<DatabaseName> name,
    TouchedShards shards) {
  /**
   * The number of addresses that carry events; a database's is chosen by a hash of its instance.
   */
  static final int ADDRESSES = 64;

  public enum Kind {
    CREATED,
    UPDATED,
    DELETED,
    /** An event of a newer version, unknown to this one. */
    OTHER;

    public static Kind of(String name) {
      return Arrays.stream(values())
          .filter(kind -> kind.name().equals(name))
          .findAny()
          .orElse(OTHER);
    }
  }

  public static DatabaseEvent created(String storeId, InstanceId instance, DatabaseName name) {
    return without(Kind.CREATED, storeId, instance, name);
  }

  public static DatabaseEvent updated(
      String storeId,
      InstanceId instance,
      DatabaseName name,
      Sequence highest,
      TouchedShards shards) {
    return new DatabaseEvent(
        storeId, instance, Kind.UPDATED, Optional.of(highest), Optional.of(name), shards);
  }

  public static DatabaseEvent deleted(String storeId, InstanceId instance, DatabaseName name) {
    return without(Kind.DELETED, storeId, instance, name);
  }

  private static DatabaseEvent without(
      Kind kind, String storeId, InstanceId instance, DatabaseName name) {
    return new DatabaseEvent(
        storeId, instance, kind, Optional.empty(), Optional.of(name), TouchedShards.ANY);
  }

  /** Merges two updates of one life of a database into one event. */
  DatabaseEvent and(DatabaseEvent other) {
    boolean isLower = sequence.orElseThrow().compareTo(other.sequence.orElseThrow()) < 0;
    Optional<Sequence> highest = isLower ? other.sequence : sequence;
    return new DatabaseEvent(storeId, instance, kind, highest, name, shards.and(other.shards));
  }

  /** Returns the address of events of this life of a database, 0 to 63. */
  public static int address(InstanceId instance) {
    return Math.floorMod(instance.hex().hashCode(), ADDRESSES);
  }

  public int address() {
    return address(instance);
  }
}
