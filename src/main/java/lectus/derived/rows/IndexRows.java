package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.RefusedSubspace;
import lectus.derived.DerivedRow;
import lectus.derived.DerivedSet;
import lectus.derived.EditWork;
import lectus.derived.SortKey;
import lectus.derived.StoredIndex;
import lectus.document.DocumentId;
import lectus.document.read.SelectedDocuments;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.json.TupleWriter;
import lectus.revision.RevisionId;

/** The rows that indexes have of documents: at most one entry of each live one. */
public final class IndexRows extends DerivedRows<StoredIndex> {
  private final List<OfIndex> indexes;

  public IndexRows(ReadTransaction tx, DatabaseHandle db, List<StoredIndex> all) {
    super(tx, db, all);
    this.indexes = all.stream().map(index -> new OfIndex(db, index)).toList();
  }

  /** Where the rows of one index lie. */
  private record OfIndex(
      StoredIndex index, IndexEntriesSubspace entries, RefusedSubspace refused, int valueBytes) {
    OfIndex(DatabaseHandle db, StoredIndex index) {
      this(
          index,
          new IndexEntriesSubspace(db, index),
          new RefusedSubspace(db, index),
          index.definition().valueBytes());
    }
  }

  /**
   * The sort keys of one document's fields, each computed once: indexes often share fields, and a
   * long string takes ICU a while.
   */
  private static final class SortKeys {
    private final Map<Cut, byte[]> known = new HashMap<>(4);

    /** A field's key up to a length. */
    private record Cut(String field, int mostBytes) {}

    byte[] of(OfIndex index, List<LeafView> values) {
      TupleWriter key = new TupleWriter(64);
      List<String> fields = index.index.definition().fields();
      for (int i = 0; i < values.size(); i++) {
        LeafView value = values.get(i);
        key.raw(
            known.computeIfAbsent(
                new Cut(fields.get(i), index.valueBytes),
                cut -> SortKey.of(value, cut.mostBytes).bytes()));
      }
      return key.toBytes();
    }
  }

  /**
   * Returns the rows of a live document in all of the indexes.
   *
   * @param document with the leaves of {@link DerivedSet#reads}
   */
  List<DerivedRow> of(LeafView document, String docId, RevisionId winner, EditWork work) {
    List<DerivedRow> rows = new ArrayList<>(indexes.size());
    SortKeys keys = new SortKeys();
    for (OfIndex index : indexes) {
      index
          .index
          .values(document)
          .ifPresent(values -> add(index, document, values, docId, winner, keys, work, rows));
    }
    return rows;
  }

  private static void add(
      OfIndex index,
      LeafView document,
      List<LeafView> values,
      String docId,
      RevisionId winner,
      SortKeys keys,
      EditWork work,
      List<DerivedRow> rows) {
    EditWork.Share share = work.share();
    try {
      if (index.index.takes(document, share)) {
        byte[] key = index.entries.key(keys.of(index, values), docId);
        rows.add(DerivedRow.set(key, IndexEntriesSubspace.value(winner, values)));
      }
      if (!share.isCertain()) {
        rows.add(index.refused.clearing(docId));
      }
    } catch (LectusException tooMuchWork) {
      rows.add(index.refused.refusal(docId, tooMuchWork.error().reason()));
      byte[] key = index.entries.key(keys.of(index, values), docId);
      Optional<byte[]> entry = Optional.of(IndexEntriesSubspace.value(winner, values));
      rows.add(new DerivedRow(key, entry, DerivedRow.Change.CLEAR));
    }
  }

  /** Returns the entry of a live document; empty if the index has none. */
  public Optional<KeyValue> entry(LeafView document, String docId, RevisionId winner) {
    List<DerivedRow> rows = of(document, docId, winner, new EditWork(docId));
    return rows.isEmpty() || isRefusal(rows.get(0).key())
        ? Optional.empty()
        : rows.get(0).value().map(it -> new KeyValue(rows.get(0).key(), it));
  }

  @Override
  protected String documentOf(KeyValue row) {
    return indexes.get(0).entries.decode(row).docId();
  }

  @Override
  protected Work<?> work() {
    return new Entries(new SelectedDocuments(tx.snapshot(), db, DerivedSet.reads(all())));
  }

  /**
   * @param leaves null of a document that has no rows
   */
  private record Reading(ChangeEntry document, SelectedDocuments.Started leaves) {}

  private final class Entries extends Work<Reading> {
    private final SelectedDocuments documents;

    Entries(SelectedDocuments documents) {
      this.documents = documents;
    }

    @Override
    public Reading start(ChangeEntry document) {
      boolean hasRows = !document.deleted() && !DocumentId.isDesign(document.docId());
      return new Reading(
          document, hasRows ? documents.start(document.docId(), false, document.winner()) : null);
    }

    @Override
    public List<DerivedRow> finish(Reading reading) {
      String id = reading.document.docId();
      return reading.leaves == null
          ? List.of()
          : of(documents.leaves(reading.leaves), id, reading.document.winner(), new EditWork(id));
    }

    @Override
    public long bytesRead() {
      return documents.bytesArrived();
    }
  }
}
