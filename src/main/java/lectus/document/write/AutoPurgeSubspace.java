package lectus.document.write;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * For how long one database keeps tombstones, and how far its changes were searched for old ones.
 *
 * <pre>
 * key (prefix, AUTO_PURGE, 0)   value (format 1, time to live, as the client wrote it)
 * key (prefix, AUTO_PURGE, 1)   value (format 1, Incarnation, Versionstamp): no tombstone is left
 *                                      whose change is as old
 * </pre>
 */
public final class AutoPurgeSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A setting of tombstones");
  private static final int TIME_TO_LIVE = 0;
  private static final int SEARCHED = 1;

  private final byte[] prefix;

  public AutoPurgeSubspace(DatabaseHandle db) {
    this.prefix = db.prefix();
  }

  CompletableFuture<Optional<String>> timeToLive(ReadTransaction tx) {
    return tx.get(key(TIME_TO_LIVE))
        .thenApply(
            value ->
                Optional.ofNullable(value).map(it -> FORMAT.reader(it).only(TupleReader::string)));
  }

  void setTimeToLive(Transaction tx, Optional<String> text) {
    text.ifPresentOrElse(
        it -> tx.set(key(TIME_TO_LIVE), value().string(it).toBytes()),
        () -> tx.clear(key(TIME_TO_LIVE)));
  }

  CompletableFuture<Optional<Sequence>> searched(ReadTransaction tx) {
    return tx.get(key(SEARCHED))
        .thenApply(
            value ->
                Optional.ofNullable(value).map(it -> FORMAT.reader(it).only(Sequence::readFrom)));
  }

  void setSearched(Transaction tx, Sequence to) {
    TupleWriter value = value();
    to.writeTo(value);
    tx.set(key(SEARCHED), value.toBytes());
  }

  public Range range() {
    return DatabaseSubspace.AUTO_PURGE.range(prefix);
  }

  /** Reads a row as the database's users do. */
  public void decode(KeyValue row) {
    TupleReader key =
        new TupleReader(row.getKey(), DatabaseSubspace.AUTO_PURGE.key(prefix).length());
    TupleReader value = FORMAT.reader(row.getValue());
    int kind = key.only(TupleReader::smallInteger);
    switch (kind) {
      case TIME_TO_LIVE -> value.only(TupleReader::string);
      case SEARCHED -> value.only(Sequence::readFrom);
      default -> throw StoredFormat.newer("A setting of tombstones", kind, SEARCHED);
    }
  }

  private byte[] key(int row) {
    return DatabaseSubspace.AUTO_PURGE.key(prefix).integer(row).toBytes();
  }

  private static TupleWriter value() {
    return new TupleWriter(32).integer(FORMAT.number());
  }
}
