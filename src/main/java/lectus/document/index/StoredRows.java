package lectus.document.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentId;
import lectus.document.PartsAhead;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.read.SelectedDocuments;
import lectus.index.DatabaseIndexes;
import lectus.index.StoredIndex;
import lectus.json.LeafView;
import lectus.store.Awaiting;

/** Computes what indexes should have of the documents that are stored, in the order of ids. */
final class StoredRows {
  /** Documents that one thread looks at, at a time. */
  private static final int PART = 128;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final List<StoredIndex> indexes;
  private final AllDocsSubspace allDocs;
  private final IndexStatesSubspace states;

  /**
   * @param db with the indexes or without them
   */
  StoredRows(ReadTransaction tx, DatabaseHandle db, List<StoredIndex> indexes) {
    this.tx = tx.snapshot();
    this.db = db;
    this.indexes = indexes;
    this.allDocs = new AllDocsSubspace(db);
    this.states = new IndexStatesSubspace(db);
  }

  /**
   * The rows of some documents that follow each other.
   *
   * @param documents in the order of their ids
   * @param rowsOfEach in the same order
   */
  record Page(List<AllDocsRow> documents, List<List<EntryChange>> rowsOfEach, boolean isLast) {
    Optional<String> lastId() {
      return documents.isEmpty()
          ? Optional.empty()
          : Optional.of(documents.get(documents.size() - 1).id());
    }

    List<EntryChange> rows() {
      List<EntryChange> rows = new ArrayList<>(rowsOfEach.size());
      rowsOfEach.forEach(rows::addAll);
      return rows;
    }
  }

  /**
   * @param after empty: from the first document
   * @param most number of documents
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
    return new Page(documents, rowsOf(documents), documents.size() < most);
  }

  private byte[] behind(String id) {
    byte[] key = allDocs.key(id);
    return Arrays.copyOf(key, key.length + 1);
  }

  /** Returns the rows of each of some documents, which may lie anywhere. */
  List<List<EntryChange>> rowsOf(List<AllDocsRow> documents) {
    PartsAhead<List<List<EntryChange>>> parts = new PartsAhead<>(tx.getExecutor());
    for (int from = 0; from < documents.size(); from += PART) {
      List<AllDocsRow> part = documents.subList(from, Math.min(documents.size(), from + PART));
      parts.add(() -> rowsOfPart(part));
    }
    List<List<EntryChange>> rows = new ArrayList<>(documents.size());
    while (parts.size() > 0) {
      rows.addAll(parts.take());
    }
    return rows;
  }

  private List<List<EntryChange>> rowsOfPart(List<AllDocsRow> documents) {
    SelectedDocuments leaves = new SelectedDocuments(tx, db, DatabaseIndexes.reads(indexes));
    List<IndexRows> computed = indexes.stream().map(index -> new IndexRows(db, index)).toList();
    List<Optional<SelectedDocuments.Started>> started = new ArrayList<>(documents.size());
    for (AllDocsRow row : documents) {
      started.add(
          DocumentId.isDesign(row.id())
              ? Optional.empty()
              : Optional.of(leaves.startScalars(row.id(), false, row.winner())));
    }
    started.forEach(each -> each.ifPresent(leaves::goOn));
    List<List<EntryChange>> rows = new ArrayList<>(documents.size());
    for (int i = 0; i < documents.size(); i++) {
      AllDocsRow document = documents.get(i);
      Optional<LeafView> view = started.get(i).map(leaves::leaves);
      rows.add(view.map(it -> rows(computed, it, document)).orElse(List.of()));
    }
    return rows;
  }

  private List<EntryChange> rows(List<IndexRows> computed, LeafView leaves, AllDocsRow document) {
    List<EntryChange> rows = new ArrayList<>(computed.size());
    ComputedKeys keys = new ComputedKeys();
    for (IndexRows index : computed) {
      IndexRows.Row row = index.of(leaves, document.id(), document.winner(), keys);
      row.entry().ifPresent(rows::add);
      if (row.refused().isPresent()) {
        rows.add(states.refusal(index.index().number(), document.id(), row.refused()));
      }
    }
    return rows;
  }
}
