package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.derived.DerivedRow;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging.Standing;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;

/**
 * The entries of one stored feed, by channel: of each document that is in the channel one, under
 * the sequence of its entry in the changes index; of each that has left, one under the sequence of
 * the edit that took it out.
 *
 * <pre>
 * key    (prefix, DERIVED_ROWS, number, 1, channel, part, Incarnation, Versionstamp)
 * value  (format 1, doc id, position, hash, branch count, not deleted, standing)
 * </pre>
 *
 * The channel is a string, an empty one in a feed with a selector. A feed of channels has entries
 * under the empty string, too: one for each edit by which a document has left channels that it has
 * not come back to. So part 1 of the empty string has all departures from a feed in their order,
 * whatever its kind. Part 0 has what every reader sees, part 1 what is only for those who ask for
 * documents that have left: so the others do not read over it. There are no shards, so that a
 * channel is read in one range and resharding concerns no feed.
 *
 * <p>Written without conflict ranges: the revisions subspace decides conflicts.
 */
public final class FeedEntriesSubspace {
  private static final StoredFormat FORMAT = new StoredFormat(1, "An entry of a stored feed");

  /** Names no channel. */
  private static final String ANY = "";

  private static final int FOR_ALL = 0;
  private static final int OF_DEPARTED = 1;

  private final byte[] prefix;
  private final int incarnation;
  private final boolean isOfChannels;

  public FeedEntriesSubspace(DatabaseHandle db, StoredFeed feed) {
    this.isOfChannels = feed.definition().channels().isPresent();
    this.prefix = RefusedSubspace.part(db, feed, RefusedSubspace.ENTRIES).toBytes();
    this.incarnation = db.incarnation();
  }

  /**
   * A range of entries in the order of their sequences.
   *
   * @param ofDeparted whether it has the documents that have left
   */
  public record Part(String channel, boolean ofDeparted) {
    private int number() {
      return ofDeparted ? OF_DEPARTED : FOR_ALL;
    }
  }

  public record Row(String channel, FeedEntry entry) {}

  /** Returns the change that adds an entry under its sequence, or that of the write. */
  DerivedRow insertion(String channel, ChangeEntry entry, Standing standing) {
    if (entry.sequence() != null) {
      return row(channel, entry, standing);
    }
    return new DerivedRow(
        part(partOf(channel, entry, standing)).integer(incarnation).toBytes(),
        Optional.of(value(entry, standing)),
        DerivedRow.Change.SET_STAMPED_KEY);
  }

  /** Returns the row of an entry whose sequence is known. */
  DerivedRow row(String channel, ChangeEntry entry, Standing standing) {
    return DerivedRow.set(
        key(partOf(channel, entry, standing), entry.sequence()), value(entry, standing));
  }

  /** Whoever reads a channel is told that a document of it was deleted. */
  private Part partOf(String channel, ChangeEntry entry, Standing standing) {
    boolean tellsAll = isOfChannels && entry.deleted() && !channel.equals(ANY);
    boolean isForAll = standing != Standing.LEFT || tellsAll;
    return new Part(channel, !isForAll);
  }

  /** Returns the change that removes the entry of a document that is in a channel. */
  DerivedRow clearing(String channel, Sequence sequence) {
    return DerivedRow.cleared(key(new Part(channel, false), sequence));
  }

  /** Returns the changes that remove the entry of a document that has left. */
  List<DerivedRow> clearingDeparture(String channel, Sequence sequence) {
    return List.of(
        clearing(channel, sequence), DerivedRow.cleared(key(new Part(channel, true), sequence)));
  }

  /** Returns the change that notes that a document leaves channels with the write. */
  Optional<DerivedRow> departure(ChangeEntry entry) {
    return isOfChannels ? Optional.of(insertion(ANY, entry, Standing.LEFT)) : Optional.empty();
  }

  /** Returns the row that tells of a departure from any channel; its sequence is known. */
  DerivedRow departed(ChangeEntry entry) {
    return row(ANY, entry, Standing.LEFT);
  }

  /** Returns the change that forgets that a document left channels at a sequence. */
  Optional<DerivedRow> clearingDeparture(Sequence sequence) {
    return isOfChannels
        ? Optional.of(DerivedRow.cleared(key(new Part(ANY, true), sequence)))
        : Optional.empty();
  }

  /** Reads the departures from all channels. */
  public CompletableFuture<EntryRows<FeedEntry>> departures(ReadTransaction tx, EntryRange some) {
    return read(tx, new Part(ANY, true), some);
  }

  /** Whether an entry tells of a departure from any channel. */
  static boolean isOfAnyChannel(String channel) {
    return channel.equals(ANY);
  }

  public CompletableFuture<EntryRows<FeedEntry>> read(
      ReadTransaction tx, Part part, EntryRange some) {
    return EntryRows.read(tx, part(part), some, FeedEntriesSubspace::decode);
  }

  /** Whether a document has this sequence that is in the channel, or that was deleted there. */
  public CompletableFuture<Boolean> contains(
      ReadTransaction tx, String channel, Sequence sequence) {
    return tx.get(key(new Part(channel, false), sequence)).thenApply(row -> row != null);
  }

  /** Returns the entry of a document that has left a channel; empty if there is none. */
  CompletableFuture<Optional<FeedEntry>> departed(
      ReadTransaction tx, String channel, Sequence sequence) {
    return tx.get(key(new Part(channel, true), sequence))
        .thenCombine(
            tx.get(key(new Part(channel, false), sequence)),
            (hidden, shown) ->
                Optional.ofNullable(hidden)
                    .or(() -> Optional.ofNullable(shown))
                    .map(it -> decode(sequence, it)));
  }

  public Range range() {
    return Range.startsWith(prefix);
  }

  public Row decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), prefix.length);
    String channel = key.string();
    int part = key.smallInteger();
    if (part != FOR_ALL && part != OF_DEPARTED) {
      throw new MalformedTupleException("No part of a channel: " + part);
    }
    return new Row(channel, decode(key.only(Sequence::readFrom), row.getValue()));
  }

  private static FeedEntry decode(Sequence sequence, byte[] bytes) {
    TupleReader value = FORMAT.reader(bytes);
    String docId = value.string();
    RevisionId winner = new RevisionId(value.integer(), RevisionHash.readFrom(value));
    int branchCount = value.smallInteger();
    boolean deleted = !value.bool();
    return new FeedEntry(
        new ChangeEntry(sequence, docId, winner, deleted, branchCount),
        Standing.numbered(value.only(TupleReader::smallInteger)));
  }

  private static byte[] value(ChangeEntry entry, Standing standing) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).string(entry.docId());
    value.integer(entry.winner().position());
    entry.winner().hash().writeTo(value);
    return value
        .integer(entry.branchCount())
        .bool(!entry.deleted())
        .integer(standing.number())
        .toBytes();
  }

  private TupleWriter part(Part part) {
    return new TupleWriter(prefix).string(part.channel()).integer(part.number());
  }

  private byte[] key(Part part, Sequence sequence) {
    TupleWriter key = part(part);
    sequence.writeTo(key);
    return key.toBytes();
  }

  /**
   * An entry of a stored feed.
   *
   * @param entry as the changes index has it or, of a document that has left, had it then
   */
  public record FeedEntry(ChangeEntry entry, Standing standing) {
    /** Returns the entry of a document that is in two channels under the same sequence. */
    public FeedEntry and(FeedEntry other) {
      return new FeedEntry(entry, standing.or(other.standing));
    }
  }
}
