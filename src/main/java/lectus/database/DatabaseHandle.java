package lectus.database;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.derived.Derived;
import lectus.derived.DerivedSet;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.error.LectusException;
import lectus.store.Versionstamp;

/**
 * An immutable snapshot of one life of a database. {@link Catalogue#current} checks in each
 * transaction whether it still holds.
 *
 * @param instance identifies this life of the database; a database created again under the same
 *     name has another
 * @param version the value of the version key, which every change of configuration moves
 * @param createdAtSeconds seconds since 1970, CouchDB's {@code instance_start_time}
 * @param joined when this life began, in the store's commit order
 * @param security who may use it; empty if that was never set
 * @param voucher with which the place vouches for its users that the database came from; empty if
 *     it was made here
 * @param mayHavePurges whether the database remembers a purge, as far as is known. The first purge
 *     moves the version key
 */
public record DatabaseHandle(
    DatabaseName name,
    InstanceId instance,
    byte[] prefix,
    byte[] version,
    Incarnations incarnations,
    long createdAtSeconds,
    Versionstamp joined,
    DatabaseConfiguration configuration,
    ShardTopology topology,
    Optional<SecurityObject> security,
    List<Validator> validators,
    DerivedSet<StoredIndex> indexes,
    DerivedSet<StoredFeed> feeds,
    boolean mayHavePurges,
    Whereabouts whereabouts,
    Optional<Secret> voucher) {

  /**
   * Returns the key of the current shard map, which every write adds to its read conflict ranges.
   */
  public byte[] shardMapKey() {
    return ConfigSubspace.shardMapKey(prefix, topology.current());
  }

  /** Returns all indexes and stored feeds. */
  public List<Derived> derived() {
    return Stream.<Derived>concat(indexes.all().stream(), feeds.all().stream()).toList();
  }

  DatabaseHandle with(ShardTopology other) {
    return with(incarnations, other);
  }

  DatabaseHandle with(Incarnations others) {
    return with(others, topology);
  }

  private DatabaseHandle with(Incarnations otherIncarnations, ShardTopology otherTopology) {
    return new DatabaseHandle(
        name,
        instance,
        prefix,
        version,
        otherIncarnations,
        createdAtSeconds,
        joined,
        configuration,
        otherTopology,
        security,
        validators,
        indexes,
        feeds,
        mayHavePurges,
        whereabouts,
        voucher);
  }

  /** Returns the place that has taken over; empty if none has. */
  public Optional<Moved> moved() {
    return whereabouts instanceof Moved moved ? Optional.of(moved) : Optional.empty();
  }

  /** Returns where requests for it are passed on to; empty if they are not. */
  public Optional<Moved> passesTo() {
    return moved().filter(it -> it.millisLeft() > 0);
  }

  /** Whether it is served here, or was until a moment ago. */
  boolean isHere() {
    return moved().isEmpty();
  }

  /** Whether it may be written: not while its last changes follow to another place. */
  public boolean takesWrites() {
    return !(whereabouts instanceof Frozen);
  }

  /**
   * @throws LectusException Unavailable: it may be about to be written elsewhere
   */
  DatabaseHandle requireWritable() {
    requireWritable(whereabouts);
    return this;
  }

  static void requireWritable(Whereabouts whereabouts) {
    if (whereabouts instanceof Frozen frozen) {
      throw LectusException.unavailable(
          "The database moves to " + frozen.place() + " and takes no writes until it is there.");
    }
  }

  /** Returns the number of the Incarnation under which it is written. */
  public int incarnation() {
    return incarnations.current().number();
  }

  /**
   * Returns the point of the last change of its configuration, which has no entry. Each incarnation
   * begins with such a change.
   */
  public Optional<Sequence> configuredAt() {
    return ConfigSubspace.changedAt(version).map(at -> Sequence.of(incarnation(), at, 0));
  }

  /** Returns the key that every write adds to its read conflict ranges. */
  public byte[] versionKey() {
    return ConfigSubspace.versionKey(prefix);
  }
}
