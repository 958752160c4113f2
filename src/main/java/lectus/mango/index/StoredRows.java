package lectus.mango.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.derived.DatabaseIndexes;
import lectus.derived.StoredIndex;
import lectus.document.DocumentId;
import lectus.document.ReadAhead;
import lectus.document.list.AllDocsRow;
import lectus.document.list.AllDocsSubspace;
import lectus.document.read.DocumentsAhead;
import lectus.document.read.SelectedDocuments;
import lectus.json.LeafView;
import lectus.mango.selector.EditWork;
import lectus.store.Awaiting;

/** Computes what indexes should have of the documents that are stored, in the order of ids. */
final class StoredRows {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final List<StoredIndex> indexes;
  private final AllDocsSubspace allDocs;

  /**
   * @param db with the indexes or without them
   */
  StoredRows(ReadTransaction tx, DatabaseHandle db, List<StoredIndex> indexes) {
    this.tx = tx.snapshot();
    this.db = db;
    this.indexes = indexes;
    this.allDocs = new AllDocsSubspace(db);
  }

  /**
   * The rows of some documents that follow each other.
   *
   * @param documents in the order of their ids
   * @param rowsOfEach in the same order
   */
  record Page(List<AllDocsRow> documents, List<List<IndexRows.Row>> rowsOfEach, boolean isLast) {
    Optional<String> lastId() {
      return documents.isEmpty()
          ? Optional.empty()
          : Optional.of(documents.get(documents.size() - 1).id());
    }

    List<EntryChange> rows() {
      List<EntryChange> rows = new ArrayList<>(rowsOfEach.size());
      rowsOfEach.forEach(ofOne -> ofOne.forEach(row -> rows.addAll(row.changes())));
      return rows;
    }
  }

  /**
   * @param after empty: from the first document
   * @param most number of documents; a page may have fewer if they are large
   */
  Page read(Optional<String> after, int most) {
    List<KeyValue> rows =
        Awaiting.await(
            tx.getRange(
                    after.map(this::behind).orElseGet(allDocs::begin),
                    allDocs.end(),
                    most,
                    false,
                    StreamingMode.WANT_ALL)
                .asList());
    List<AllDocsRow> documents = rows.stream().map(allDocs::decode).toList();
    List<List<IndexRows.Row>> rowsOfEach = rowsOf(documents);
    int size = rowsOfEach.size();
    boolean isLast = size == documents.size() && size < most;
    return new Page(documents.subList(0, size), rowsOfEach, isLast);
  }

  private byte[] behind(String id) {
    byte[] key = allDocs.key(id);
    return Arrays.copyOf(key, key.length + 1);
  }

  /**
   * Returns the rows of each of the first documents, which may lie anywhere: of as many as one
   * transaction should read.
   */
  List<List<IndexRows.Row>> rowsOf(List<AllDocsRow> documents) {
    return rowsOf(documents, DocumentsAhead.learning());
  }

  /** The same for a page of a job, whose documents are like those of the page before. */
  List<List<IndexRows.Row>> rowsOf(List<AllDocsRow> documents, ReadAhead ahead) {
    return new DocumentsAhead<>(tx.getExecutor(), new Rows(), ahead).of(documents);
  }

  /**
   * @param reading empty of a design document
   */
  private record Started(AllDocsRow document, Optional<SelectedDocuments.Started> reading) {}

  private final class Rows
      implements DocumentsAhead.Work<AllDocsRow, Started, List<IndexRows.Row>> {
    private final SelectedDocuments leaves =
        new SelectedDocuments(tx, db, DatabaseIndexes.reads(indexes));
    private final List<IndexRows> computed =
        indexes.stream().map(index -> new IndexRows(db, index)).toList();

    @Override
    public Started start(AllDocsRow document) {
      return new Started(
          document,
          DocumentId.isDesign(document.id())
              ? Optional.empty()
              : Optional.of(leaves.startScalars(document.id(), false, document.winner())));
    }

    @Override
    public void goOn(Started started) {
      started.reading.ifPresent(leaves::goOn);
    }

    @Override
    public List<IndexRows.Row> finish(Started started) {
      return started
          .reading
          .map(it -> rows(computed, leaves.leaves(it), started.document))
          .orElse(List.of());
    }

    @Override
    public long bytesRead() {
      return leaves.bytesArrived();
    }

    @Override
    public long sizeOf(List<IndexRows.Row> rows) {
      return rows.stream()
          .flatMap(row -> row.changes().stream())
          .mapToLong(EntryChange::bytes)
          .sum();
    }
  }

  private static List<IndexRows.Row> rows(
      List<IndexRows> computed, LeafView leaves, AllDocsRow document) {
    List<IndexRows.Row> rows = new ArrayList<>(computed.size());
    ComputedKeys keys = new ComputedKeys();
    EditWork work = new EditWork(document.id());
    for (IndexRows index : computed) {
      rows.add(index.of(leaves, document.id(), document.winner(), keys, work));
    }
    return rows;
  }
}
