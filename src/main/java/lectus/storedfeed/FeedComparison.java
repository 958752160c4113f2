package lectus.storedfeed;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.changes.log.ChangeEntry;
import lectus.changes.log.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.derived.StoredFeed;
import lectus.jobs.ComparedDocuments;
import lectus.jobs.JobKind;
import lectus.jobs.JobTasksSubspace;
import lectus.jobs.KeptRows;
import lectus.jobs.RowComparison;
import lectus.jobs.TaskProgress;
import lectus.jobs.WrongRow;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Compares a stored feed with the documents of its database, at one version. */
public final class FeedComparison implements RowComparison {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final StoredFeed feed;
  private final ExpectedEntries expected;
  private final FeedEntriesSubspace entries;
  private final FeedRemovalsSubspace departures;
  private final FeedStatesSubspace states;

  public FeedComparison(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    this.tx = tx;
    this.db = db;
    this.feed = feed;
    this.expected = new ExpectedEntries(tx, db, List.of(feed));
    this.entries = new FeedEntriesSubspace(db, feed);
    this.departures = new FeedRemovalsSubspace(db, feed);
    this.states = new FeedStatesSubspace(db, feed);
  }

  /**
   * Looks whether the feed has what it should have of the documents of a changes shard.
   *
   * @param after only entries after this sequence
   * @param most number of documents; it may be fewer if they are large
   */
  public ComparedDocuments<Sequence> documents(ShardId shard, Optional<Sequence> after, int most) {
    List<ChangeEntry> documents =
        Awaiting.await(
            new ChangesSubspace(db).read(tx, shard, after, Optional.empty(), most, false));
    TaskProgress filled =
        Awaiting.await(new JobTasksSubspace(db).all(tx, JobKind.FEED, feed.number())).get(shard);
    List<List<FeedChange>> rows = expected.of(documents);
    List<WrongRow> wrong = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      ChangeEntry document = documents.get(i);
      boolean isThere =
          feed.isReadable() || (filled != null && filled.hasPassed(document.sequence()));
      for (FeedChange row : mustBeThere(rows.get(i))) {
        problem(document.docId(), isThere, row).ifPresent(wrong::add);
      }
    }
    boolean isLast = rows.size() == documents.size() && rows.size() < most;
    return isLast
        ? new ComparedDocuments<>(Optional.empty(), wrong)
        : new ComparedDocuments<>(Optional.of(documents.get(rows.size() - 1).sequence()), wrong);
  }

  /**
   * The feed may have refused a document whose selector takes more than a little work, and may have
   * taken one that is refused here, when the database had other indexes and feeds.
   */
  private List<FeedChange> mustBeThere(List<FeedChange> rows) {
    boolean isDecidedOtherwise =
        rows.stream()
            .filter(row -> row.value().isEmpty())
            .anyMatch(row -> Awaiting.await(tx.get(row.key())) != null);
    return isDecidedOtherwise
        ? List.of()
        : rows.stream()
            .filter(row -> row.value().isPresent())
            .filter(row -> ExpectedEntries.areCertain(rows) || !isOfRefused(row))
            .toList();
  }

  private boolean isOfRefused(FeedChange row) {
    Range range = states.refused();
    return Arrays.compareUnsigned(row.key(), range.begin) >= 0
        && Arrays.compareUnsigned(row.key(), range.end) < 0;
  }

  private Optional<WrongRow> problem(String id, boolean isThere, FeedChange row) {
    byte[] stored = Awaiting.await(tx.get(row.key()));
    if (stored == null) {
      return isThere
          ? Optional.of(new WrongRow(id, row.key(), name() + " lacks the document " + id))
          : Optional.empty();
    }
    return Arrays.equals(stored, row.value().orElseThrow())
        ? Optional.empty()
        : Optional.of(
            new WrongRow(id, row.key(), name() + " has another version of the document " + id));
  }

  /** Returns the ranges of the feed's rows. */
  public static List<KeptRows<FeedComparison>> rows(DatabaseHandle db, StoredFeed feed) {
    FeedEntriesSubspace entries = new FeedEntriesSubspace(db, feed);
    FeedRemovalsSubspace departures = new FeedRemovalsSubspace(db, feed);
    FeedStatesSubspace states = new FeedStatesSubspace(db, feed);
    return List.of(
        new KeptRows<>(entries.range(), entries::decode, FeedComparison::problemOfEntry),
        new KeptRows<>(departures.range(), departures::decode, FeedComparison::problemOfDeparture),
        new KeptRows<>(states.refused(), states::decodeRefused, FeedComparison::problemOfRefused));
  }

  /**
   * Returns what is wrong with an entry: whether a document should have it, or has left there.
   *
   * @throws lectus.tuple.MalformedTupleException if it cannot be read
   */
  private Optional<WrongRow> problemOfEntry(KeyValue row) {
    FeedEntriesSubspace.Row entry = entries.decode(row);
    if (isGone(row)) {
      return Optional.empty();
    }
    String id = entry.entry().entry().docId();
    boolean isExpected =
        entry.entry().standing() == Standing.LEFT
            ? hasLeft(id, entry.channel(), entry.entry().entry().sequence())
            : isExpected(id, row);
    return isExpected ? Optional.empty() : Optional.of(superfluous("an entry", id, row));
  }

  private boolean hasLeft(String id, String channel, Sequence sequence) {
    boolean isOfAny =
        feed.definition().isOfChannels() && FeedEntriesSubspace.isOfAnyChannel(channel);
    return Awaiting.await(departures.all(tx, id)).stream()
            .filter(it -> it.sequence().equals(sequence))
            .anyMatch(it -> isOfAny || it.channel().equals(channel))
        && (isOfAny
            || !ExpectedEntries.areCertain(expectedOf(id))
            || expectedOf(id).stream().noneMatch(row -> isOfChannel(row, channel)));
  }

  private boolean isOfChannel(FeedChange row, String channel) {
    Range range = entries.range();
    return Arrays.compareUnsigned(row.key(), range.begin) >= 0
        && Arrays.compareUnsigned(row.key(), range.end) < 0
        && entries
            .decode(new KeyValue(row.key(), row.value().orElseThrow()))
            .channel()
            .equals(channel);
  }

  /** As above, of the row that tells where a document has left. */
  private Optional<WrongRow> problemOfDeparture(KeyValue row) {
    if (isGone(row)) {
      return Optional.empty();
    }
    FeedRemovalsSubspace.Departure found = departures.decode(row);
    String id = found.docId();
    Optional<FeedChange> ofAny = ofAnyChannel(found);
    boolean isThere =
        ofAny.filter(it -> !isGone(new KeyValue(it.key(), it.value().orElseThrow()))).isPresent();
    // If the entry of the channel alone is there, the other is made from it.
    return isThere
        ? Optional.empty()
        : Optional.of(
            new WrongRow(
                id,
                ofAny.map(FeedChange::key).orElse(row.getKey()),
                name() + " has no entry where " + id + " has left it"));
  }

  /** Returns the row that tells of a departure from any channel, if the channel has its own. */
  private Optional<FeedChange> ofAnyChannel(FeedRemovalsSubspace.Departure departure) {
    return Awaiting.await(entries.departed(tx, departure.channel(), departure.sequence()))
        .filter(it -> it.standing() == Standing.LEFT)
        .filter(it -> it.entry().docId().equals(departure.docId()))
        .map(it -> entries.departed(it.entry()));
  }

  /** As above, of the row of a document that the feed could not take. */
  private Optional<WrongRow> problemOfRefused(KeyValue row) {
    String id = states.decodeRefused(row).docId();
    return isGone(row) || isExpected(id, row)
        ? Optional.empty()
        : Optional.of(superfluous("a refusal", id, row));
  }

  private boolean isGone(KeyValue row) {
    return !Arrays.equals(Awaiting.await(tx.get(row.getKey())), row.getValue());
  }

  /** Rows that would be cleared may be there, too. */
  private boolean isExpected(String id, KeyValue row) {
    return expectedOf(id).stream()
        .anyMatch(
            it ->
                Arrays.equals(it.key(), row.getKey())
                    && it.value().map(value -> Arrays.equals(value, row.getValue())).orElse(true));
  }

  @Override
  public Optional<byte[]> expected(String docId, byte[] key) {
    return expectedOf(docId).stream()
        .filter(row -> Arrays.equals(row.key(), key))
        .findFirst()
        .or(() -> departed(docId, key))
        .flatMap(FeedChange::value);
  }

  private Optional<FeedChange> departed(String docId, byte[] key) {
    return Awaiting.await(departures.all(tx, docId)).stream()
        .flatMap(it -> ofAnyChannel(it).stream())
        .filter(row -> Arrays.equals(row.key(), key))
        .findFirst();
  }

  private List<FeedChange> expectedOf(String id) {
    Optional<EditBranch> winner = Awaiting.await(new RevisionsSubspace(db).winner(tx, id));
    return winner.map(it -> expected.of(List.of(entry(id, it))).get(0)).orElse(List.of());
  }

  private static ChangeEntry entry(String id, EditBranch winner) {
    return new ChangeEntry(
        winner.winner().sequence(),
        id,
        winner.leaf(),
        winner.deleted(),
        winner.winner().branchCount());
  }

  private WrongRow superfluous(String what, String id, KeyValue row) {
    String problem = name() + " has " + what + " that the document " + id + " should not have";
    return new WrongRow(id, row.getKey(), problem);
  }

  /** Returns the feed's name for people. */
  private String name() {
    return "The stored feed " + feed.definition().name();
  }
}
