package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.derived.DerivedRow;
import lectus.derived.DerivedSet;
import lectus.derived.EditWork;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging.DocumentLeaves;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedEntriesSubspace.FeedEntry;
import lectus.derived.rows.FeedRemovalsSubspace.Departure;
import lectus.document.read.SelectedDocuments;
import lectus.json.MalformedTupleException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The rows that a stored feed has of documents. Those of documents that have left do not follow
 * from the documents: an entry and the row that says where are compared with each other.
 */
public final class FeedRows extends DerivedRows<StoredFeed> {
  private final FeedEntriesSubspace entries;
  private final FeedRemovalsSubspace departures;
  private final RefusedSubspace refused;

  public FeedRows(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    super(tx, db, List.of(feed));
    this.entries = new FeedEntriesSubspace(db, feed);
    this.departures = new FeedRemovalsSubspace(db, feed);
    this.refused = new RefusedSubspace(db, feed);
  }

  @Override
  protected Work<?> work() {
    return new Entries(new SelectedDocuments(tx.snapshot(), db, DerivedSet.reads(all())));
  }

  /**
   * @param branches null of a document with one leaf
   */
  private record Reading(
      ChangeEntry entry, DocumentLeaves leaves, CompletableFuture<List<EditBranch>> branches) {
    List<EditBranch> all() {
      return branches == null ? List.of(winner(entry)) : Awaiting.await(branches);
    }
  }

  private static EditBranch winner(ChangeEntry entry) {
    return new EditBranch(entry.winner(), entry.deleted(), null, null, null);
  }

  private final class Entries extends Work<Reading> {
    private final SelectedDocuments documents;
    private final RevisionsSubspace revisions = new RevisionsSubspace(db);
    private final LongAdder bytesOfBranches = new LongAdder();

    Entries(SelectedDocuments documents) {
      this.documents = documents;
    }

    @Override
    public Reading start(ChangeEntry entry) {
      DocumentLeaves leaves = new DocumentLeaves(documents, entry.docId());
      leaves.start(winner(entry));
      return new Reading(entry, leaves, entry.branchCount() > 1 ? branches(entry.docId()) : null);
    }

    /** Thousands of branches with long histories take more than their leaves. */
    private CompletableFuture<List<EditBranch>> branches(String id) {
      return revisions
          .branches(tx.snapshot(), id)
          .thenApply(
              branches -> {
                branches.forEach(it -> bytesOfBranches.add(revisions.sizeBound(id, it)));
                return branches;
              });
    }

    @Override
    public void goOn(Reading reading) {
      reading.all().forEach(reading.leaves::start);
    }

    @Override
    public List<DerivedRow> finish(Reading reading) {
      return rows(reading);
    }

    @Override
    public long bytesRead() {
      return documents.bytesArrived() + bytesOfBranches.sum();
    }
  }

  private List<DerivedRow> rows(Reading reading) {
    ChangeEntry entry = reading.entry;
    String id = entry.docId();
    Belonging belonging = Belonging.of(one(), reading.leaves.of(reading.all()), new EditWork(id));
    List<DerivedRow> rows = new ArrayList<>();
    belonging
        .channels()
        .forEach((channel, standing) -> rows.add(entries.row(channel, entry, standing)));
    belonging.refused().ifPresent(why -> rows.add(refused.refusal(id, why)));
    if (!belonging.isCertain()) {
      rows.add(
          belonging.refused().isPresent()
              ? entries.clearing(StoredFeed.ONLY, entry.sequence())
              : refused.clearing(id));
    }
    return rows;
  }

  /** Returns the rows that say where a document has left the feed: no document yields them. */
  public List<DerivedRow> departuresOf(String docId) {
    List<DerivedRow> rows = new ArrayList<>();
    for (Departure each : Awaiting.await(departures.all(tx, docId))) {
      Optional<FeedEntry> entry =
          Awaiting.await(entries.departed(tx, each.channel(), each.sequence()))
              .filter(it -> it.standing() == Standing.LEFT);
      rows.add(departures.row(each));
      entry.ifPresent(it -> rows.add(entries.row(each.channel(), it.entry(), Standing.LEFT)));
      ofAnyChannel(each)
          .filter(it -> one().definition().channels().isPresent())
          .ifPresent(rows::add);
    }
    return rows;
  }

  /**
   * Checks that a stored feed of the database may have a row of {@link #departuresOf}.
   *
   * @throws MalformedTupleException if it cannot be read
   */
  public static void checkDeparture(DatabaseHandle db, KeyValue row) {
    boolean isOne =
        db.feeds().all().stream()
            .anyMatch(
                feed -> {
                  FeedEntriesSubspace entries = new FeedEntriesSubspace(db, feed);
                  FeedRemovalsSubspace departures = new FeedRemovalsSubspace(db, feed);
                  return isIn(departures.range(), row.getKey())
                      ? !departures.decode(row).docId().isEmpty()
                      : isIn(entries.range(), row.getKey())
                          && entries.decode(row).entry().standing() == Standing.LEFT;
                });
    if (!isOne) {
      throw new MalformedTupleException("No stored feed has such a row");
    }
  }

  private boolean isDeparture(byte[] key) {
    return isIn(departures.range(), key);
  }

  private static boolean isIn(Range range, byte[] key) {
    return Arrays.compareUnsigned(key, range.begin) >= 0
        && Arrays.compareUnsigned(key, range.end) < 0;
  }

  @Override
  protected String documentOf(KeyValue row) {
    return isDeparture(row.getKey())
        ? departures.decode(row).docId()
        : entries.decode(row).entry().entry().docId();
  }

  @Override
  protected Optional<WrongRow> problemOf(KeyValue row) {
    if (isDeparture(row.getKey())) {
      return problemOf(departures.decode(row), row);
    }
    return isIn(entries.range(), row.getKey()) && isLeft(entries.decode(row))
        ? Optional.empty()
        : super.problemOf(row);
  }

  /** Whether an entry of a document that has left a channel belongs where it is. */
  private boolean isLeft(FeedEntriesSubspace.Row row) {
    ChangeEntry entry = row.entry().entry();
    return row.entry().standing() == Standing.LEFT
        && hasLeft(entry.docId(), row.channel(), entry.sequence());
  }

  private boolean hasLeft(String id, String channel, Sequence sequence) {
    boolean isOfAny =
        one().definition().channels().isPresent() && FeedEntriesSubspace.isOfAnyChannel(channel);
    return Awaiting.await(departures.all(tx, id)).stream()
            .filter(it -> it.sequence().equals(sequence))
            .anyMatch(it -> isOfAny || it.channel().equals(channel))
        && (isOfAny
            || !areCertain(expectedOf(id))
            || expectedOf(id).stream().noneMatch(row -> isOfChannel(row, channel)));
  }

  private boolean isOfChannel(DerivedRow row, String channel) {
    return isIn(entries.range(), row.key())
        && entries
            .decode(new KeyValue(row.key(), row.value().orElseThrow()))
            .channel()
            .equals(channel);
  }

  private Optional<WrongRow> problemOf(Departure departure, KeyValue row) {
    if (isGone(row)) {
      return Optional.empty();
    }
    Optional<DerivedRow> ofAny = ofAnyChannel(departure);
    boolean isThere =
        ofAny.filter(it -> !isGone(new KeyValue(it.key(), it.value().orElseThrow()))).isPresent();
    // If the entry of the channel alone is there, the other is made from it.
    String problem = name() + " has no entry where " + departure.docId() + " has left it";
    byte[] key = ofAny.map(DerivedRow::key).orElse(row.getKey());
    return isThere ? Optional.empty() : Optional.of(new WrongRow(departure.docId(), key, problem));
  }

  /** Returns the row that tells of a departure from any channel, if the channel has its own. */
  private Optional<DerivedRow> ofAnyChannel(Departure departure) {
    return Awaiting.await(entries.departed(tx, departure.channel(), departure.sequence()))
        .filter(it -> it.standing() == Standing.LEFT)
        .filter(it -> it.entry().docId().equals(departure.docId()))
        .map(it -> entries.departed(it.entry()));
  }

  @Override
  public Optional<byte[]> expected(String docId, byte[] key) {
    return super.expected(docId, key)
        .or(
            () ->
                Awaiting.await(departures.all(tx, docId)).stream()
                    .flatMap(it -> ofAnyChannel(it).stream())
                    .filter(row -> Arrays.equals(row.key(), key))
                    .findFirst()
                    .flatMap(DerivedRow::value));
  }
}
