package lectus.mango.index;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.derived.IndexLimits;
import lectus.derived.StoredIndex;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.mango.selector.EditWork;
import lectus.revision.RevisionId;
import lectus.tuple.TupleWriter;

/** Computes what one index has of a document. */
public final class IndexRows {
  private final StoredIndex index;
  private final IndexEntriesSubspace entries;
  private final IndexStatesSubspace states;
  private final int valueBytes;

  public IndexRows(DatabaseHandle db, StoredIndex index) {
    this.index = index;
    this.entries = new IndexEntriesSubspace(db, index);
    this.states = new IndexStatesSubspace(db);
    this.valueBytes = IndexLimits.valueBytes(index.definition().fields().size());
  }

  StoredIndex index() {
    return index;
  }

  /**
   * What an index has of a document.
   *
   * @param entry its key and its value; also of a document that is refused, as if it were not
   * @param refused the row that names the document, and why the index cannot take it
   * @param clearsRefused clears that row, if another edit of this very content might have written
   *     it; of a document that is refused it names the row, too
   */
  public record Row(
      Optional<EntryChange> entry,
      Optional<EntryChange> refused,
      Optional<EntryChange> clearsRefused) {
    static final Row NONE = new Row(Optional.empty(), Optional.empty(), Optional.empty());

    /**
     * Returns the rows to write and to clear of a document of which the index may have either row.
     */
    List<EntryChange> changes() {
      return refused.isPresent()
          ? Stream.concat(refused.stream(), entry.map(EntryChange::cleared).stream()).toList()
          : Stream.concat(entry.stream(), clearsRefused.stream()).toList();
    }
  }

  /**
   * @param document with the leaves that the index needs
   * @param winner the document's live winner
   * @param keys of this document, for all indexes
   */
  public Row of(
      LeafView document, String docId, RevisionId winner, ComputedKeys keys, EditWork work) {
    Optional<List<LeafView>> values = index.values().of(document);
    if (values.isEmpty()) {
      return Row.NONE;
    }
    EditWork.Share share = work.share();
    Optional<EntryChange> refused = Optional.empty();
    boolean isIn = true;
    try {
      isIn = index.values().takes(document, share);
    } catch (LectusException tooMuchWork) {
      refused =
          Optional.of(
              states.refusal(index.number(), docId, Optional.of(tooMuchWork.error().reason())));
    }
    return new Row(
        isIn ? Optional.of(entry(values.get(), docId, winner, keys)) : Optional.empty(),
        refused,
        share.isCertain()
            ? Optional.empty()
            : Optional.of(states.refusal(index.number(), docId, Optional.empty())));
  }

  /** Returns the index's row of a document; empty if it has none. */
  public Optional<EntryChange> of(LeafView document, String docId, RevisionId winner) {
    Row row = of(document, docId, winner, new ComputedKeys(), new EditWork(docId));
    return row.refused().isPresent() ? Optional.empty() : row.entry();
  }

  private EntryChange entry(
      List<LeafView> values, String docId, RevisionId winner, ComputedKeys keys) {
    TupleWriter sortKey = new TupleWriter(64);
    List<String> fields = index.definition().fields();
    for (int i = 0; i < values.size(); i++) {
      sortKey.raw(keys.of(fields.get(i), values.get(i), valueBytes));
    }
    return new EntryChange(
        entries.key(sortKey.toBytes(), docId),
        Optional.of(IndexEntriesSubspace.value(winner, values)));
  }
}
