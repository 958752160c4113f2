package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.derived.DerivedRow;
import lectus.derived.StoredFeed;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;

/**
 * Where documents have left one stored feed: at most one row for each document and channel, until
 * the document comes back. Each belongs to an entry that says so ({@link Standing#LEFT}).
 *
 * <pre>
 * key    (prefix, DERIVED_ROWS, number, 2, doc id, 0, channel)
 * value  (format 1, Incarnation, Versionstamp)
 * </pre>
 *
 * Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class FeedRemovalsSubspace {
  private static final StoredFormat FORMAT =
      new StoredFormat(1, "The place where a document left a stored feed");

  private static final int OF_CHANNEL = 0;
  private static final int AFTER = 0xff;

  private final byte[] prefix;
  private final int incarnation;

  public FeedRemovalsSubspace(DatabaseHandle db, StoredFeed feed) {
    this.prefix = RefusedSubspace.part(db, feed, RefusedSubspace.REMOVALS).toBytes();
    this.incarnation = db.incarnation();
  }

  public record Departure(String docId, String channel, Sequence sequence) {}

  /** Returns the change that notes that a document leaves with the write. */
  DerivedRow insertion(String docId, String channel) {
    return new DerivedRow(
        key(docId, channel),
        Optional.of(new TupleWriter(32).integer(FORMAT.number()).integer(incarnation).toBytes()),
        DerivedRow.Change.SET_STAMPED_VALUE);
  }

  /** Returns the row of a departure whose sequence is known. */
  DerivedRow row(Departure departure) {
    TupleWriter value = new TupleWriter(32).integer(FORMAT.number());
    departure.sequence().writeTo(value);
    return DerivedRow.set(key(departure.docId(), departure.channel()), value.toBytes());
  }

  DerivedRow clearing(String docId, String channel) {
    return DerivedRow.cleared(key(docId, channel));
  }

  /** Returns where a document has left channels. */
  public CompletableFuture<List<Departure>> all(ReadTransaction tx, String docId) {
    byte[] begin = document(docId).integer(OF_CHANNEL).toBytes();
    return tx.getRange(begin, new TupleWriter(begin).octet(AFTER).toBytes())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  public Range range() {
    return Range.startsWith(prefix);
  }

  public Departure decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    String docId = key.string();
    if (key.smallInteger() != OF_CHANNEL) {
      throw new MalformedTupleException("No kind of departures from a stored feed");
    }
    String channel = key.only(TupleReader::string);
    Sequence sequence = FORMAT.reader(row.getValue()).only(Sequence::readFrom);
    return new Departure(docId, channel, sequence);
  }

  private byte[] key(String docId, String channel) {
    return document(docId).integer(OF_CHANNEL).string(channel).toBytes();
  }

  private TupleWriter document(String docId) {
    return new TupleWriter(prefix).string(docId);
  }
}
