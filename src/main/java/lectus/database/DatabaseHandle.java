package lectus.database;

import java.util.Optional;
import lectus.store.Versionstamp;

/**
 * What one life of a database looked like when it was last read: a value, never changed. Whether it
 * still holds is for {@link Catalogue#current} to say, in each transaction.
 *
 * @param instance identifies this life of the database: created again under its name it is another
 * @param prefix what all keys of this database begin with
 * @param version the value of the version key, moved by every change of configuration
 * @param createdAtSeconds seconds since 1970, CouchDB's {@code instance_start_time}
 * @param joined when this life began, in the order of all commits of the store
 * @param format what its keys and values are like: {@link #CURRENT_FORMAT}, or what came before
 * @param validator a design document that asks for every write to be validated; empty if none does
 */
public record DatabaseHandle(
    DatabaseName name,
    InstanceId instance,
    byte[] prefix,
    byte[] version,
    int incarnation,
    long createdAtSeconds,
    Versionstamp joined,
    DatabaseConfiguration configuration,
    ShardTopology topology,
    int format,
    Optional<String> validator) {

  /** Databases from before formats were numbered, until they are upgraded. */
  public static final int FIRST_FORMAT = 0;

  /** Hashes of revisions are byte strings in keys, and the validators are listed. */
  public static final int CURRENT_FORMAT = 1;

  /** Whether a server may work on it as it is. */
  public boolean isCurrent() {
    return format == CURRENT_FORMAT;
  }

  /** The current entry of the shard map, which every write puts into its read conflict set. */
  public byte[] shardMapKey() {
    return ConfigSubspace.shardMapKey(prefix, topology.current());
  }

  /** The same database with another topology. */
  DatabaseHandle with(ShardTopology other) {
    return new DatabaseHandle(
        name,
        instance,
        prefix,
        version,
        incarnation,
        createdAtSeconds,
        joined,
        configuration,
        other,
        format,
        validator);
  }

  /** The key that every write puts into its read conflict set. */
  public byte[] versionKey() {
    return ConfigSubspace.versionKey(prefix);
  }
}
