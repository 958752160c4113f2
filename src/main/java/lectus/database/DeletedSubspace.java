package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.ReadableRows;
import lectus.store.RootSubspace;
import lectus.store.Versionstamp;

/**
 * Databases that were deleted and are kept, with all their rows.
 *
 * <pre>
 * key    (root, DELETED, name, seconds since 1970 at deletion)
 * value  (format 1, instance, prefix, seconds since 1970 at creation, Versionstamp of creation)
 * </pre>
 */
public final class DeletedSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A deleted database");

  /** Above every type code with which the tuple encoding of a number begins. */
  private static final int AFTER_NUMBERS = 0xff;

  private final byte[] prefix;

  public DeletedSubspace(byte[] root) {
    this.prefix = RootSubspace.DELETED.key(root).toBytes();
  }

  /**
   * A database that was deleted.
   *
   * @param atSeconds when, since 1970; another one of the same name has another
   * @param createdAtSeconds since 1970
   */
  public record Deleted(DatabaseInstance life, long atSeconds, long createdAtSeconds) {
    /** Returns by what clients tell it from others of the same name. */
    public String timestamp() {
      return Instant.ofEpochSecond(atSeconds).toString();
    }
  }

  /** Returns the seconds of a {@link Deleted#timestamp}; empty if it is none. */
  public static OptionalLong seconds(String timestamp) {
    try {
      Instant at = Instant.parse(timestamp);
      return at.toString().equals(timestamp) && at.getNano() == 0
          ? OptionalLong.of(at.getEpochSecond())
          : OptionalLong.empty();
    } catch (DateTimeException notPrinted) {
      return OptionalLong.empty();
    }
  }

  public Range range() {
    return Range.startsWith(prefix);
  }

  /** Returns the key of a name and a time; of the first with the name if there is no time. */
  public byte[] key(String name, OptionalLong atSeconds) {
    TupleWriter key = new TupleWriter(prefix).string(name);
    atSeconds.ifPresent(key::integer);
    return key.toBytes();
  }

  /** Returns the first key behind all those that {@link #key} is the first of. */
  public byte[] behind(String name, OptionalLong atSeconds) {
    byte[] key = key(name, atSeconds);
    return atSeconds.isPresent()
        ? Arrays.copyOf(key, key.length + 1)
        : new TupleWriter(key).octet(AFTER_NUMBERS).toBytes();
  }

  public Range range(Deleted deleted) {
    String name = deleted.life().name().text();
    OptionalLong at = OptionalLong.of(deleted.atSeconds());
    return new Range(key(name, at), behind(name, at));
  }

  /** Reads the first ones of a range that can be read. */
  public CompletableFuture<List<Deleted>> read(
      ReadTransaction tx, Range some, int limit, boolean reverse) {
    return ReadableRows.read(tx, some, limit, reverse, this::decode);
  }

  CompletableFuture<Optional<Deleted>> get(ReadTransaction tx, DatabaseName name, long atSeconds) {
    byte[] key = key(name.text(), OptionalLong.of(atSeconds));
    return tx.get(key)
        .thenApply(value -> Optional.ofNullable(value).map(it -> decode(new KeyValue(key, it))));
  }

  void put(Transaction tx, Deleted deleted) {
    DatabaseInstance life = deleted.life();
    tx.set(
        key(life.name().text(), OptionalLong.of(deleted.atSeconds())),
        new TupleWriter(64)
            .integer(FORMAT.number())
            .string(life.instance().hex())
            .bytes(life.prefix())
            .integer(deleted.createdAtSeconds())
            .versionstamp(life.joined().bytes())
            .toBytes());
  }

  void clear(Transaction tx, Deleted deleted) {
    tx.clear(key(deleted.life().name().text(), OptionalLong.of(deleted.atSeconds())));
  }

  /**
   * @throws lectus.json.MalformedTupleException if this version does not know the row
   */
  public Deleted decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    DatabaseName name = new DatabaseName(key.string());
    long atSeconds = key.only(TupleReader::integer);
    TupleReader value = FORMAT.reader(row.getValue());
    InstanceId instance = new InstanceId(value.string());
    byte[] itsPrefix = value.bytes();
    long createdAtSeconds = value.integer();
    Versionstamp joined = new Versionstamp(value.only(TupleReader::versionstamp));
    return new Deleted(
        new DatabaseInstance(name, instance, itsPrefix, joined), atSeconds, createdAtSeconds);
  }
}
