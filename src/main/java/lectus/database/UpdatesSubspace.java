package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.ReadableRows;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * The updates log: one small row, in commit order, for each transaction that creates or deletes a
 * database or writes its documents. Rows are written blindly and conflict with nothing. Buckets,
 * chosen by a hash of the instance, keep writers of different databases apart.
 *
 * <pre>
 * key    (root, UPDATES, bucket 0 to 15, Versionstamp)
 * value  (format 1, kind, instance, name); if the kind is DELETED, followed by the Versionstamp of
 *        the beginning of the life, and by its security object as JSON, empty if it was never set;
 *        of merged ends: of the first beginning, and with the rights of all lives together
 * </pre>
 *
 * <p>By the security object, readers who were away when a database was deleted can be told that it
 * is gone, if they could read it. Of one that takes more than {@link #MAX_SECURITY_BYTES} only
 * admins of the server are told.
 */
public final class UpdatesSubspace {
  /** The number of buckets. Stored rows depend on it, so it never changes. */
  public static final int BUCKETS = 16;

  /** The most bytes of a security object in the row of an end, which is never removed. */
  static final int MAX_SECURITY_BYTES = 32 << 10;

  private static final StoredFormat FORMAT = new StoredFormat(1, "A row of the updates log");

  /** With what the keys of each bucket begin. */
  private final byte[][] buckets = new byte[BUCKETS][];

  public UpdatesSubspace(byte[] rootPrefix) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      buckets[bucket] = RootSubspace.UPDATES.key(rootPrefix).integer(bucket).toBytes();
    }
  }

  void created(Transaction tx, InstanceId instance, DatabaseName name) {
    append(tx, instance, value(DatabaseUpdate.Kind.CREATED, instance, name));
  }

  void updated(Transaction tx, InstanceId instance, DatabaseName name) {
    append(tx, instance, value(DatabaseUpdate.Kind.UPDATED, instance, name));
  }

  /**
   * @param joined when the ending life began
   * @param security of the database
   */
  void deleted(
      Transaction tx,
      InstanceId instance,
      DatabaseName name,
      Versionstamp joined,
      Optional<SecurityObject> security) {
    append(
        tx, instance, ended(value(DatabaseUpdate.Kind.DELETED, instance, name), joined, security));
  }

  private static TupleWriter ended(
      TupleWriter value, Versionstamp joined, Optional<SecurityObject> security) {
    String text = security.map(SecurityObject::text).orElse("");
    boolean fits = text.getBytes(StandardCharsets.UTF_8).length <= MAX_SECURITY_BYTES;
    return value
        .versionstamp(joined.bytes())
        .string(fits ? text : SecurityObject.ADMIN_ONLY.text());
  }

  private void append(Transaction tx, InstanceId instance, TupleWriter value) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(bucket(bucketOf(instance)), 0),
        value.toBytes());
  }

  /** Replaces the row at {@code update.at()}. */
  public void put(Transaction tx, DatabaseUpdate update) {
    TupleWriter value = value(update.kind(), update.instance(), update.name());
    if (update.kind() == DatabaseUpdate.Kind.DELETED) {
      ended(value, update.joined(), update.security());
    }
    tx.set(key(update.instance(), update.at()), value.toBytes());
  }

  public void clear(Transaction tx, InstanceId instance, Versionstamp at) {
    tx.clear(key(instance, at));
  }

  /**
   * Reads the rows of one bucket in one range read.
   *
   * @param from where to begin, inclusive
   * @param until where to end, exclusive
   * @param limit maximum number of rows; 0 for all
   * @param reverse newest first; the limit then counts from the newest
   */
  public CompletableFuture<List<DatabaseUpdate>> read(
      ReadTransaction tx,
      int bucket,
      Versionstamp from,
      Versionstamp until,
      int limit,
      boolean reverse) {
    TupleWriter key = bucket(bucket);
    int stampOffset = key.length();
    byte[] begin = key.versionstamp(from.bytes()).toBytes();
    byte[] end = key.truncate(stampOffset).versionstamp(until.bytes()).toBytes();
    return ReadableRows.read(
        tx, new Range(begin, end), limit, reverse, row -> decode(row, stampOffset));
  }

  /** Reads one row; empty if it is not there any more. */
  public CompletableFuture<Optional<DatabaseUpdate>> read(
      ReadTransaction tx, InstanceId instance, Versionstamp at) {
    return tx.get(key(instance, at))
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(at, it)));
  }

  public static int bucketOf(InstanceId instance) {
    return Math.floorMod(instance.hex().hashCode(), BUCKETS);
  }

  public byte[] key(InstanceId instance, Versionstamp at) {
    return bucket(bucketOf(instance)).versionstamp(at.bytes()).toBytes();
  }

  private TupleWriter bucket(int number) {
    return new TupleWriter(buckets[number]);
  }

  private static TupleWriter value(
      DatabaseUpdate.Kind kind, InstanceId instance, DatabaseName name) {
    return new TupleWriter(128)
        .integer(FORMAT.number())
        .integer(kind.number())
        .string(instance.hex())
        .string(name.text());
  }

  public Range range(int bucket) {
    return Range.startsWith(bucket(bucket).toBytes());
  }

  /**
   * Decodes a row of a bucket.
   *
   * @throws MalformedTupleException if it is not a row of this subspace
   */
  public DatabaseUpdate decode(int bucket, KeyValue row) {
    return decode(row, bucket(bucket).length());
  }

  private static DatabaseUpdate decode(KeyValue row, int stampOffset) {
    TupleReader key = new TupleReader(row.getKey(), stampOffset);
    return decode(new Versionstamp(key.only(TupleReader::versionstamp)), row.getValue());
  }

  private static DatabaseUpdate decode(Versionstamp at, byte[] row) {
    TupleReader value = FORMAT.reader(row);
    DatabaseUpdate.Kind kind = kind(value.smallInteger());
    InstanceId instance = new InstanceId(value.string());
    DatabaseName name = new DatabaseName(value.string());
    Versionstamp joined = value.hasNext() ? new Versionstamp(value.versionstamp()) : at;
    Optional<SecurityObject> security =
        kind == DatabaseUpdate.Kind.DELETED ? security(value) : Optional.empty();
    value.end();
    return new DatabaseUpdate(at, kind, instance, name, joined, security);
  }

  private static Optional<SecurityObject> security(TupleReader value) {
    String text = value.string();
    return text.isEmpty()
        ? Optional.empty()
        : Optional.of(SecurityObject.ofStored(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static DatabaseUpdate.Kind kind(int number) {
    for (DatabaseUpdate.Kind kind : DatabaseUpdate.Kind.values()) {
      if (kind.number() == number) {
        return kind;
      }
    }
    throw StoredFormat.newer("An update", number, DatabaseUpdate.Kind.values().length - 1);
  }
}
