package lectus.document.index;

import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.error.LectusException;
import lectus.index.IndexLimits;
import lectus.index.StoredIndex;
import lectus.json.LeafView;
import lectus.revision.RevisionId;
import lectus.tuple.TupleWriter;

/** Computes what one index has of a document. */
public final class IndexRows {
  private final StoredIndex index;
  private final IndexEntriesSubspace entries;
  private final int valueBytes;

  public IndexRows(DatabaseHandle db, StoredIndex index) {
    this.index = index;
    this.entries = new IndexEntriesSubspace(db, index);
    this.valueBytes = IndexLimits.valueBytes(index.definition().fields().size());
  }

  StoredIndex index() {
    return index;
  }

  /**
   * What an index has of a document.
   *
   * @param entry its key and its value
   * @param refused why the index cannot take the document
   */
  public record Row(Optional<EntryChange> entry, Optional<String> refused) {
    static final Row NONE = new Row(Optional.empty(), Optional.empty());
  }

  /**
   * @param document with the leaves that the index needs
   * @param winner the document's live winner
   * @param keys of this document, for all indexes
   */
  public Row of(LeafView document, String docId, RevisionId winner, ComputedKeys keys) {
    try {
      return index
          .values()
          .of(document, docId)
          .map(values -> new Row(Optional.of(entry(values, docId, winner, keys)), Optional.empty()))
          .orElse(Row.NONE);
    } catch (LectusException tooMuchWork) {
      return new Row(Optional.empty(), Optional.of(tooMuchWork.error().reason()));
    }
  }

  /** Returns the index's row of a document; empty if it has none. */
  public Optional<EntryChange> of(LeafView document, String docId, RevisionId winner) {
    return of(document, docId, winner, new ComputedKeys()).entry();
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
