package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.Incarnations.Incarnation;
import lectus.database.Incarnations.Origin;
import lectus.database.ShardTopology.EmptiedGenerations;
import lectus.database.ShardTopology.Era;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Versionstamp;

/**
 * A database's configuration, read as one range.
 *
 * <pre>
 * key                                             value
 * (prefix, CONFIG, "changes_shards", 0)            (format, 1, hash scheme, [shard id…], replaced)
 * (prefix, CONFIG, "changes_shards", Sequence)     the same, or (format, 0, replaced) if the changes
 *                                                 lie in CHANGES_DEPRECATED (RFC 018), as they do
 *                                                 if there is no such key at all
 * (prefix, CONFIG, "changes_shards", 0 or          (format, 2, with the deprecated one, lowest
 *   Sequence)                                       shard number, number of shards): consecutive
 *                                                 emptied generations
 * (prefix, CONFIG, "incarnations", Incarnation)    (format, origin[, Sequence: the history's last],
 *                                                 Versionstamp: when it began)   RFC 003; no row
 *                                                 if the database was made here and stayed
 * (prefix, CONFIG, "layout")                       (format, 1): a row for each leaf; absent otherwise
 * (prefix, CONFIG, "partitioned")                  (format, boolean)
 * (prefix, CONFIG, "purged_infos_limit")           (format, integer), absent if never set
 * (prefix, CONFIG, "revs_limit")                   (format, integer)           RFC 001
 * (prefix, CONFIG, "security")                     format ‖ JSON bytes
 * (prefix, CONFIG, "version")                      format ‖ versionstamp of the last change
 * (prefix, CONFIG, "voucher")                      (format, secret with which the place vouches that
 *                                                 the database came from), absent if it was made here
 * (prefix, CONFIG, "whereabouts")                  (format, 1, relocation, URL): it takes no writes;
 *                                                 (format, 2, relocation, URL, secret[, seconds since
 *                                                 1970]): it has moved; absent while it is here
 * </pre>
 *
 * {@code format} is the integer 1 in tuples and the byte 1 elsewhere.
 */
public final class ConfigSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "The configuration of a database");
  private static final int DEPRECATED = 0;
  private static final int SHARDED = 1;
  private static final int EMPTIED = 2;
  private static final int OF_RFC004 = 1;
  private static final String SHARDS = "changes_shards";
  private static final String INCARNATIONS = "incarnations";
  private static final String LAYOUT = "layout";
  private static final String PARTITIONED = "partitioned";
  private static final String PURGED_INFOS_LIMIT = "purged_infos_limit";
  private static final String REVS_LIMIT = "revs_limit";
  private static final String SECURITY = "security";
  private static final String VOUCHER = "voucher";
  private static final String WHEREABOUTS = "whereabouts";
  private static final int FROZEN = 1;
  private static final int MOVED = 2;

  /** The store's limit on a value, less the format byte. */
  static final int MAX_SECURITY_BYTES = 100_000 - 1;

  private static final String VERSION = "version";

  /** Each transaction that writes documents needs this key. */
  private static final byte[] VERSION_BELOW_PREFIX = key(new byte[0], VERSION);

  private ConfigSubspace() {}

  /** The result of one range read of the subspace. */
  record Content(
      byte[] version,
      List<Incarnation> incarnations,
      DatabaseConfiguration configuration,
      ShardTopology topology,
      Optional<SecurityObject> security,
      Whereabouts whereabouts,
      Optional<Secret> voucher) {}

  /**
   * Checks a row.
   *
   * @throws lectus.json.MalformedTupleException if this version does not know it
   * @throws IllegalArgumentException if its value is none
   */
  public static void check(byte[] prefix, KeyValue row) {
    read(prefix, List.of(row));
  }

  static Range range(byte[] prefix) {
    return Range.startsWith(DatabaseSubspace.CONFIG.key(prefix).toBytes());
  }

  static byte[] versionKey(byte[] prefix) {
    return ByteArrayUtil.join(prefix, VERSION_BELOW_PREFIX);
  }

  static byte[] securityKey(byte[] prefix) {
    return key(prefix, SECURITY);
  }

  static byte[] shardMapKey(byte[] prefix, Era era) {
    TupleWriter key = shards(prefix);
    era.since().ifPresentOrElse(since -> since.writeTo(key), () -> key.integer(0));
    return key.toBytes();
  }

  static void create(
      Transaction tx, byte[] prefix, DatabaseConfiguration configuration, ShardTopology topology) {
    if (configuration.layout() == BodyLayout.RFC004) {
      tx.set(key(prefix, LAYOUT), value().integer(OF_RFC004).toBytes());
    }
    tx.set(key(prefix, PARTITIONED), value().bool(configuration.partitioned()).toBytes());
    topology.generations().forEach(it -> tx.set(shardMapKey(prefix, it), shardMap(it)));
    topology.emptied().forEach(it -> putEmptied(tx, prefix, it));
    update(tx, prefix, configuration);
  }

  /**
   * Returns the rows with which a database can be made elsewhere: without the version key and what
   * holds for its place, and with its incarnations, those that have no row, too. Keys have no
   * prefix.
   */
  static List<KeyValue> portable(byte[] prefix, List<KeyValue> rows, Incarnations incarnations) {
    List<KeyValue> portable = new ArrayList<>();
    Set<String> others = Set.of(VERSION, INCARNATIONS, WHEREABOUTS, VOUCHER);
    for (KeyValue row : rows) {
      if (!others.contains(field(prefix, row.getKey()))) {
        portable.add(relative(prefix, row.getKey(), row.getValue()));
      }
    }
    for (Incarnation it : incarnations.all()) {
      TupleWriter value = begin(it.origin(), it.last()).versionstamp(it.begun().bytes());
      portable.add(relative(prefix, key(prefix, it.number()), value.toBytes()));
    }
    return portable;
  }

  private static KeyValue relative(byte[] prefix, byte[] key, byte[] value) {
    return new KeyValue(Arrays.copyOfRange(key, prefix.length, key.length), value);
  }

  private static String field(byte[] prefix, byte[] key) {
    return new TupleReader(key, DatabaseSubspace.CONFIG.key(prefix).length()).string();
  }

  /**
   * Puts rows from elsewhere in the place of all there are but the version key. The database is
   * here, whatever they say, and nobody vouches.
   */
  static void replace(Transaction tx, byte[] prefix, List<KeyValue> portable) {
    byte[] version = versionKey(prefix);
    tx.clear(range(prefix).begin, version);
    tx.clear(Arrays.copyOf(version, version.length + 1), range(prefix).end);
    portable.forEach(it -> tx.set(ByteArrayUtil.join(prefix, it.getKey()), it.getValue()));
    tx.clear(whereaboutsKey(prefix));
    tx.clear(key(prefix, VOUCHER));
  }

  static byte[] whereaboutsKey(byte[] prefix) {
    return key(prefix, WHEREABOUTS);
  }

  static void put(Transaction tx, byte[] prefix, Whereabouts whereabouts) {
    byte[] key = whereaboutsKey(prefix);
    if (whereabouts instanceof Frozen frozen) {
      TupleWriter value = value().integer(FROZEN).string(frozen.relocation());
      tx.set(key, value.string(frozen.place()).toBytes());
    } else if (whereabouts instanceof Moved moved) {
      TupleWriter value = value().integer(MOVED).string(moved.relocation()).string(moved.place());
      value.string(moved.secret().text());
      moved.untilSeconds().ifPresent(value::integer);
      tx.set(key, value.toBytes());
    } else {
      tx.clear(key);
    }
  }

  /**
   * @param value stored under the key of whereabouts; null if absent
   */
  static Whereabouts whereabouts(byte[] value) {
    return value == null
        ? Whereabouts.HERE
        : FORMAT.reader(value).only(ConfigSubspace::whereabouts);
  }

  private static Whereabouts whereabouts(TupleReader value) {
    int kind = value.smallInteger();
    return switch (kind) {
      case FROZEN -> new Frozen(value.string(), value.string());
      case MOVED ->
          new Moved(
              value.string(),
              value.string(),
              new Secret(value.string()),
              value.hasNext() ? OptionalLong.of(value.integer()) : OptionalLong.empty());
      default -> throw StoredFormat.newer("The place of a database", kind, MOVED);
    };
  }

  /** Stores with which secret another place vouches for users. */
  static void vouch(Transaction tx, byte[] prefix, Secret secret) {
    tx.set(key(prefix, VOUCHER), value().string(secret.text()).toBytes());
  }

  static void put(Transaction tx, byte[] prefix, Incarnation incarnation) {
    TupleWriter value = begin(incarnation.origin(), incarnation.last());
    tx.set(
        key(prefix, incarnation.number()),
        value.versionstamp(incarnation.begun().bytes()).toBytes());
  }

  /** Begins an incarnation with this transaction, and moves the version key. */
  static void begin(
      Transaction tx, byte[] prefix, int number, Origin origin, Optional<Sequence> last) {
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        key(prefix, number),
        Versionstamp.template(begin(origin, last), 0));
    touch(tx, prefix);
  }

  private static TupleWriter begin(Origin origin, Optional<Sequence> last) {
    TupleWriter value = value().integer(origin.number());
    last.ifPresent(it -> it.writeTo(value));
    return value;
  }

  private static Incarnation incarnation(int number, TupleReader value) {
    Origin origin = Origin.numbered(value.smallInteger());
    Optional<Sequence> last =
        value.isInteger() ? Optional.of(Sequence.readFrom(value)) : Optional.empty();
    Versionstamp begun = new Versionstamp(value.only(TupleReader::versionstamp));
    return new Incarnation(number, origin, begun, last);
  }

  /**
   * Marks one shard map as replaced and adds its successor, under the sequence that the store
   * assigns when the transaction commits (RFC 018, Resharding). The version key is unchanged,
   * because writers have the old map in their read conflict ranges.
   */
  static void reshard(
      Transaction tx, byte[] prefix, int incarnation, Generation replaced, Generation successor) {
    tx.set(shardMapKey(prefix, replaced), shardMap(replaced));
    TupleWriter key = shards(prefix).integer(incarnation);
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY, Versionstamp.template(key, 0), shardMap(successor));
  }

  /** Describes emptied generations, at the key of the first of them. */
  static void putEmptied(Transaction tx, byte[] prefix, EmptiedGenerations emptied) {
    TupleWriter value = value().integer(EMPTIED).bool(emptied.deprecated());
    tx.set(
        shardMapKey(prefix, emptied),
        value.integer(emptied.firstShard()).integer(emptied.shards()).toBytes());
  }

  /**
   * Whether another shard map has replaced one that was current.
   *
   * @param value the value stored under its key; null if absent, as in a database from before
   *     shards, or after a replaced generation was forgotten
   */
  static boolean isReplaced(Generation former, byte[] value) {
    return value == null
        ? !former.isDeprecated()
        : !(era(Optional.empty(), FORMAT.reader(value)) instanceof Generation current
            && !current.replaced());
  }

  /** Stores the parts of a configuration that can change, and moves the version key. */
  static void update(Transaction tx, byte[] prefix, DatabaseConfiguration configuration) {
    tx.set(key(prefix, REVS_LIMIT), value().integer(configuration.revsLimit()).toBytes());
    long purgedInfos = configuration.purgedInfosLimit();
    if (purgedInfos != DatabaseConfiguration.DEFAULT_PURGED_INFOS_LIMIT) {
      tx.set(key(prefix, PURGED_INFOS_LIMIT), value().integer(purgedInfos).toBytes());
    } else {
      tx.clear(key(prefix, PURGED_INFOS_LIMIT));
    }
    touch(tx, prefix);
  }

  /** Moves the version key. */
  static void touch(Transaction tx, byte[] prefix) {
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        versionKey(prefix),
        Versionstamp.templateBehind((byte) FORMAT.number()));
  }

  /** Clears the version key: no cached handle of the database is valid any more. */
  static void close(Transaction tx, byte[] prefix) {
    tx.clear(versionKey(prefix));
  }

  /** Returns the transaction's part of the versionstamp in a version key's value. */
  static Optional<byte[]> changedAt(byte[] version) {
    int end = 1 + Versionstamp.TRANSACTION_LENGTH;
    return version.length < end
        ? Optional.empty()
        : Optional.of(Arrays.copyOfRange(version, 1, end));
  }

  static void secure(Transaction tx, byte[] prefix, byte[] json) {
    tx.set(securityKey(prefix), security(json));
  }

  static byte[] security(byte[] json) {
    return ByteArrayUtil.join(new byte[] {(byte) FORMAT.number()}, json);
  }

  static byte[] securityJson(byte[] value) {
    FORMAT.checkFirstByte(value);
    return Arrays.copyOfRange(value, 1, value.length);
  }

  static Content read(byte[] prefix, List<KeyValue> rows) {
    int keyStart = DatabaseSubspace.CONFIG.key(prefix).length();
    byte[] version = new byte[0];
    List<Incarnation> incarnations = new ArrayList<>();
    int revsLimit = DatabaseConfiguration.DEFAULT_REVS_LIMIT;
    boolean partitioned = false;
    BodyLayout layout = BodyLayout.INLINE;
    long purgedInfosLimit = DatabaseConfiguration.DEFAULT_PURGED_INFOS_LIMIT;
    Optional<SecurityObject> security = Optional.empty();
    Whereabouts whereabouts = Whereabouts.HERE;
    Optional<Secret> voucher = Optional.empty();
    List<Era> eras = new ArrayList<>();
    for (KeyValue row : rows) {
      TupleReader key = new TupleReader(row.getKey(), keyStart);
      switch (key.string()) {
        case SHARDS -> eras.add(era(since(key), FORMAT.reader(row.getValue())));
        case INCARNATIONS ->
            incarnations.add(incarnation(key.smallInteger(), FORMAT.reader(row.getValue())));
        case LAYOUT -> layout = FORMAT.reader(row.getValue()).only(ConfigSubspace::layout);
        case PARTITIONED -> partitioned = FORMAT.reader(row.getValue()).only(TupleReader::bool);
        case PURGED_INFOS_LIMIT ->
            purgedInfosLimit = FORMAT.reader(row.getValue()).only(TupleReader::integer);
        case REVS_LIMIT ->
            revsLimit = FORMAT.reader(row.getValue()).only(TupleReader::smallInteger);
        case SECURITY ->
            security = Optional.of(SecurityObject.ofStored(securityJson(row.getValue())));
        case VERSION -> version = row.getValue();
        case VOUCHER ->
            voucher =
                Optional.of(new Secret(FORMAT.reader(row.getValue()).only(TupleReader::string)));
        case WHEREABOUTS -> whereabouts = whereabouts(row.getValue());
        default ->
            throw new NewerFormatException(
                "The configuration of a database has a field of a newer version of Lectus");
      }
      key.end();
    }
    if (eras.isEmpty()) {
      eras.add(Generation.UNSHARDED);
    }
    DatabaseConfiguration configuration =
        new DatabaseConfiguration(revsLimit, partitioned, purgedInfosLimit, layout);
    return new Content(
        version,
        incarnations,
        configuration,
        ShardTopology.of(eras, partitioned),
        security,
        whereabouts,
        voucher);
  }

  private static BodyLayout layout(TupleReader value) {
    int number = value.smallInteger();
    if (number != OF_RFC004) {
      throw StoredFormat.newer("The layout of a database", number, OF_RFC004);
    }
    return BodyLayout.RFC004;
  }

  private static Optional<Sequence> since(TupleReader key) {
    int incarnation = key.smallInteger();
    return key.hasNext()
        ? Optional.of(new Sequence(incarnation, key.versionstamp()))
        : Optional.empty();
  }

  private static Era era(Optional<Sequence> since, TupleReader value) {
    int kind = value.smallInteger();
    Era era = era(since, kind, value);
    value.end();
    return era;
  }

  private static Era era(Optional<Sequence> since, int kind, TupleReader value) {
    return switch (kind) {
      case DEPRECATED -> value.bool() ? Generation.UNSHARDED.asReplaced() : Generation.UNSHARDED;
      case SHARDED -> generation(since, value);
      case EMPTIED ->
          new EmptiedGenerations(since, value.bool(), value.smallInteger(), value.smallInteger());
      default -> throw StoredFormat.newer("A shard map", kind, EMPTIED);
    };
  }

  private static Generation generation(Optional<Sequence> since, TupleReader value) {
    HashScheme scheme = HashScheme.numbered(value.smallInteger());
    List<ShardId> shards = new ArrayList<>();
    while (value.isString()) {
      shards.add(new ShardId(value.string()));
    }
    return new Generation(since, scheme, shards, value.bool());
  }

  private static byte[] shardMap(Generation generation) {
    if (generation.isDeprecated()) {
      return value().integer(DEPRECATED).bool(generation.replaced()).toBytes();
    }
    TupleWriter value = value().integer(SHARDED).integer(generation.hash().number());
    generation.shards().forEach(shard -> value.string(shard.text()));
    return value.bool(generation.replaced()).toBytes();
  }

  private static TupleWriter shards(byte[] prefix) {
    return DatabaseSubspace.CONFIG.key(prefix).string(SHARDS);
  }

  private static byte[] key(byte[] prefix, int incarnation) {
    return DatabaseSubspace.CONFIG.key(prefix).string(INCARNATIONS).integer(incarnation).toBytes();
  }

  private static byte[] key(byte[] prefix, String field) {
    return DatabaseSubspace.CONFIG.key(prefix).string(field).toBytes();
  }

  private static TupleWriter value() {
    return new TupleWriter(32).integer(FORMAT.number());
  }
}
