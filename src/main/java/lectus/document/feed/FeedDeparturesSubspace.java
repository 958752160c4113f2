package lectus.document.feed;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.channel.StoredFeed;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * Where documents have left one stored feed: at most one row for each document and channel, until
 * the document comes back. Each belongs to an entry that says so ({@link Standing#LEFT}). One more
 * row of a document has what it left last, for tails, which know its sequence alone.
 *
 * <pre>
 * key    (prefix, FEED_DEPARTURES, number, doc id, 0, channel)
 * value  (format 1, Incarnation, Versionstamp)
 * key    (prefix, FEED_DEPARTURES, number, doc id, 1)
 * value  (format 1, channel…, Incarnation, Versionstamp)
 * </pre>
 *
 * Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class FeedDeparturesSubspace {
  private static final StoredFormat FORMAT =
      new StoredFormat(1, "The place where a document left a stored feed");

  private static final int OF_CHANNEL = 0;
  private static final int LAST = 1;
  private static final int AFTER = 0xff;

  private final byte[] prefix;
  private final int incarnation;

  public FeedDeparturesSubspace(DatabaseHandle db, StoredFeed feed) {
    this.prefix =
        DatabaseSubspace.FEED_DEPARTURES.key(db.prefix()).integer(feed.number()).toBytes();
    this.incarnation = db.incarnation();
  }

  /**
   * A row.
   *
   * @param channels one, or those that the document left last
   */
  public record Departure(String docId, List<String> channels, Sequence sequence, boolean isLast) {}

  /** Returns the change that notes that a document leaves with the write. */
  FeedChange insertion(String docId, String channel) {
    return new FeedChange(
        key(docId, channel),
        Optional.of(new TupleWriter(32).integer(FORMAT.number()).integer(incarnation).toBytes()),
        FeedChange.Stamped.VALUE);
  }

  /** Returns the change that notes what a document leaves with the write. */
  FeedChange lastInsertion(String docId, Collection<String> channels) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number());
    channels.forEach(value::string);
    return new FeedChange(
        document(docId).integer(LAST).toBytes(),
        Optional.of(value.integer(incarnation).toBytes()),
        FeedChange.Stamped.VALUE);
  }

  FeedChange clearing(String docId, String channel) {
    return FeedChange.cleared(key(docId, channel));
  }

  /** Returns where a document has left a channel; empty if it has not. */
  public CompletableFuture<Optional<Sequence>> of(
      ReadTransaction tx, String docId, String channel) {
    return tx.get(key(docId, channel))
        .thenApply(
            value -> Optional.ofNullable(value).map(it -> departure(docId, it, false).sequence()));
  }

  /** Returns the change that forgets what a document left last. */
  FeedChange clearingLast(String docId) {
    return FeedChange.cleared(document(docId).integer(LAST).toBytes());
  }

  /** Returns all rows of a document. */
  public CompletableFuture<List<Departure>> all(ReadTransaction tx, String docId) {
    byte[] begin = document(docId).toBytes();
    return tx.getRange(begin, TupleWriter.startingWith(begin).octet(AFTER).toBytes())
        .asList()
        .thenApply(rows -> rows.stream().map(this::decode).toList());
  }

  /** Returns what a document left last; empty if it has left nothing. */
  public CompletableFuture<Optional<Departure>> last(ReadTransaction tx, String docId) {
    return tx.get(document(docId).integer(LAST).toBytes())
        .thenApply(value -> Optional.ofNullable(value).map(it -> departure(docId, it, true)));
  }

  /** Returns the range of all rows. */
  public Range range() {
    return new Range(prefix, TupleWriter.startingWith(prefix).octet(AFTER).toBytes());
  }

  public Departure decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    String docId = key.string();
    boolean isLast = key.smallInteger() == LAST;
    Departure departure = departure(docId, row.getValue(), isLast);
    return isLast
        ? departure
        : new Departure(docId, List.of(key.string()), departure.sequence(), false);
  }

  private static Departure departure(String docId, byte[] bytes, boolean isLast) {
    TupleReader value = FORMAT.reader(bytes);
    List<String> channels = new ArrayList<>();
    while (value.isString()) {
      channels.add(value.string());
    }
    return new Departure(docId, channels, Sequence.readFrom(value), isLast);
  }

  /** Clears all rows. */
  void clear(Transaction tx) {
    tx.options().setNextWriteNoWriteConflictRange();
    tx.clear(range());
  }

  private byte[] key(String docId, String channel) {
    return document(docId).integer(OF_CHANNEL).string(channel).toBytes();
  }

  private TupleWriter document(String docId) {
    return TupleWriter.startingWith(prefix).string(docId);
  }
}
