package lectus.mango.query;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardTopology.Generation;
import lectus.derived.DerivedSet;
import lectus.derived.StoredIndex;
import lectus.derived.rows.IndexRows;
import lectus.document.DocumentId;
import lectus.document.read.SelectedDocuments;
import lectus.json.LeafView;
import lectus.mango.query.FindPage.FindRow;
import lectus.store.Awaiting;

/**
 * The documents that were changed while an answer was read at several versions of the store: a
 * writer may have moved them, in the index, behind the place that the reader had reached. They are
 * found in the changes index, in the order of their last change. One that is changed again moves to
 * the end, so what is read to the end was looked at in its newest state.
 */
final class MovedDocuments {
  /** Entries that are looked at together. */
  static final int MAX_ENTRIES = 250;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final BiFunction<Integer, KeyValue, FindRow> decoder;

  /** The ends of the query's ranges by their beginnings. */
  private final NavigableMap<byte[], byte[]> ranges = new TreeMap<>(Arrays::compareUnsigned);

  private final ChangesSubspace changes;
  private final IndexRows rows;
  private final SelectedDocuments leaves;

  /**
   * @param ranges those of the query
   */
  MovedDocuments(ReadTransaction tx, DatabaseHandle db, StoredIndex index, List<Range> ranges) {
    this.tx = tx;
    this.db = db;
    this.decoder = FindRow.decoder(db, Optional.of(index));
    ranges.forEach(it -> this.ranges.put(it.begin, it.end));
    this.changes = new ChangesSubspace(db);
    this.rows = new IndexRows(tx, db, List.of(index));
    this.leaves = new SelectedDocuments(tx, db, DerivedSet.reads(List.of(index)));
  }

  /**
   * How far the changes were looked at.
   *
   * @param isLast whether there are no more at the transaction's read version
   */
  record Step(FindCursor cursor, Sequence changes, boolean isLast) {}

  /** Appends those of some changed documents that match and that the page has not shown. */
  Step append(FindPage page, FindCursor from, Sequence after) {
    List<CompletableFuture<List<ChangeEntry>>> reading = new ArrayList<>();
    EntryRange some = EntryRange.after(Optional.of(after), MAX_ENTRIES);
    for (Generation generation : db.topology().from(Optional.of(after))) {
      generation.shards().forEach(shard -> reading.add(changes.read(tx, shard, some)));
    }
    List<List<ChangeEntry>> shards = reading.stream().map(Awaiting::await).toList();
    Optional<Sequence> whole =
        shards.stream()
            .filter(it -> it.size() == MAX_ENTRIES)
            .map(it -> it.get(MAX_ENTRIES - 1).sequence())
            .min(Comparator.naturalOrder());
    List<ChangeEntry> entries =
        shards.stream()
            .flatMap(List::stream)
            .filter(it -> whole.isEmpty() || it.sequence().compareTo(whole.get()) <= 0)
            .sorted(Comparator.comparing(ChangeEntry::sequence))
            .limit(MAX_ENTRIES)
            .toList();
    boolean isLast = whole.isEmpty() && entries.size() == total(shards);
    return append(page, from, after, entries, isLast);
  }

  private static int total(List<List<ChangeEntry>> shards) {
    return shards.stream().mapToInt(List::size).sum();
  }

  private Step append(
      FindPage page, FindCursor from, Sequence after, List<ChangeEntry> entries, boolean isLast) {
    List<ChangeEntry> live =
        entries.stream()
            .filter(it -> !it.deleted() && !DocumentId.isDesign(it.docId()))
            .filter(it -> !page.isDone.test(it.docId()))
            .toList();
    List<SelectedDocuments.Started> started =
        live.stream().map(it -> leaves.start(it.docId(), false, it.winner())).toList();
    List<FindRow> found = new ArrayList<>();
    List<Sequence> sequences = new ArrayList<>();
    for (int i = 0; i < live.size(); i++) {
      Optional<FindRow> row = row(leaves.leaves(started.get(i)), live.get(i));
      if (row.isPresent()) {
        found.add(row.get());
        sequences.add(live.get(i).sequence());
      }
    }
    FindCursor at = page.append(found, from);
    int looked = (int) (at.keys() - from.keys());
    boolean isWhole = looked == found.size();
    Sequence reached =
        isWhole
            ? entries.isEmpty() ? after : entries.get(entries.size() - 1).sequence()
            : looked == 0 ? after : sequences.get(looked - 1);
    return new Step(at.atPlaceOf(from), reached, isLast && isWhole);
  }

  /** Returns the document's row of the index if it lies in one of the ranges. */
  private Optional<FindRow> row(LeafView document, ChangeEntry entry) {
    return rows.entry(document, entry.docId(), entry.winner())
        .filter(it -> isWanted(it.getKey()))
        .map(it -> decoder.apply(0, it));
  }

  private boolean isWanted(byte[] key) {
    Map.Entry<byte[], byte[]> range = ranges.floorEntry(key);
    return range != null && Arrays.compareUnsigned(key, range.getValue()) < 0;
  }
}
