package lectus.mango.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.derived.StoredIndex;
import lectus.document.list.AllDocsSubspace;
import lectus.jobs.ComparedDocuments;
import lectus.jobs.JobKind;
import lectus.jobs.KeptRows;
import lectus.jobs.RowComparison;
import lectus.jobs.TasksPassed;
import lectus.jobs.WrongRow;
import lectus.store.Awaiting;

/** Compares an index with the documents of its database, at one version. */
public final class IndexComparison implements RowComparison {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final StoredIndex index;
  private final StoredRows expected;

  public IndexComparison(ReadTransaction tx, DatabaseHandle db, StoredIndex index) {
    this.tx = tx;
    this.db = db;
    this.index = index;
    this.expected = new StoredRows(tx, db, List.of(index));
  }

  /**
   * Looks whether the index has what it should have.
   *
   * @param after only documents behind this one
   * @param most number of documents
   */
  public ComparedDocuments<String> documents(Optional<String> after, int most) {
    StoredRows.Page page = expected.read(after, most);
    TasksPassed progress = new TasksPassed(tx, db, JobKind.INDEX, index.number());
    List<WrongRow> wrong = new ArrayList<>();
    for (int i = 0; i < page.documents().size(); i++) {
      String id = page.documents().get(i).id();
      for (IndexRows.Row row : page.rowsOfEach().get(i)) {
        problem(id, () -> index.isReadable() || progress.hasPassed(id), row).ifPresent(wrong::add);
      }
    }
    return new ComparedDocuments<>(page.isLast() ? Optional.empty() : page.lastId(), wrong);
  }

  /**
   * An index may refuse a document whose filter takes more than a little work, and what is refused
   * here may have been taken when there were fewer indexes.
   */
  private Optional<WrongRow> problem(String id, BooleanSupplier isThere, IndexRows.Row row) {
    if (row.entry().isEmpty()) {
      return Optional.empty();
    }
    EntryChange entry = row.entry().get();
    byte[] stored = Awaiting.await(tx.get(entry.key()));
    if (stored == null) {
      boolean mayLack =
          row.refused().isPresent() || row.clearsRefused().filter(this::isStored).isPresent();
      return !mayLack && isThere.getAsBoolean()
          ? Optional.of(new WrongRow(id, entry.key(), name() + " lacks the document " + id))
          : Optional.empty();
    }
    return Arrays.equals(stored, entry.value().orElseThrow())
        ? Optional.empty()
        : Optional.of(
            new WrongRow(id, entry.key(), name() + " has another version of the document " + id));
  }

  private boolean isStored(EntryChange row) {
    return Awaiting.await(tx.get(row.key())) != null;
  }

  /** Returns the range of the index's entries. */
  public static Range entries(DatabaseHandle db, StoredIndex index) {
    byte[] begin = new IndexEntriesSubspace(db, index).begin(Optional.empty());
    return new Range(begin, IndexEntriesSubspace.endOf(begin));
  }

  /** Returns the ranges of the index's rows. */
  public static List<KeptRows<IndexComparison>> rows(DatabaseHandle db, StoredIndex index) {
    IndexEntriesSubspace entries = new IndexEntriesSubspace(db, index);
    IndexStatesSubspace states = new IndexStatesSubspace(db);
    long number = index.number();
    return List.of(
        new KeptRows<>(entries(db, index), entries::decode, IndexComparison::problemOfEntry),
        new KeptRows<>(
            states.refused(number),
            row -> states.decodeRefused(number, row),
            IndexComparison::problemOfRefused));
  }

  /**
   * Returns what is wrong with an entry: whether a document should have it.
   *
   * @throws lectus.tuple.MalformedTupleException if it cannot be read
   */
  private Optional<WrongRow> problemOfEntry(KeyValue entry) {
    String docId = new IndexEntriesSubspace(db, index).decode(entry).docId();
    return problem(docId, entry, row -> row.entry().stream());
  }

  /** As above, of the row of a document that the index could not take. */
  private Optional<WrongRow> problemOfRefused(KeyValue row) {
    String docId = new IndexStatesSubspace(db).decodeRefused(index.number(), row).docId();
    return problem(docId, row, it -> it.clearsRefused().stream());
  }

  /**
   * @param possible the row that the index may have
   */
  private Optional<WrongRow> problem(
      String docId, KeyValue row, Function<IndexRows.Row, Stream<EntryChange>> possible) {
    byte[] key = row.getKey();
    String problem = name() + " has an entry that the document " + docId + " should not have";
    return Awaiting.await(tx.get(key)) == null || expected(docId, key, possible).isPresent()
        ? Optional.empty()
        : Optional.of(new WrongRow(docId, key, problem));
  }

  @Override
  public Optional<byte[]> expected(String docId, byte[] key) {
    return expected(docId, key, row -> Stream.concat(row.entry().stream(), row.refused().stream()))
        .flatMap(EntryChange::value);
  }

  private Optional<EntryChange> expected(
      String docId, byte[] key, Function<IndexRows.Row, Stream<EntryChange>> possible) {
    return Awaiting.await(new AllDocsSubspace(db).get(tx, docId)).stream()
        .flatMap(document -> expected.rowsOf(List.of(document)).get(0).stream())
        .flatMap(possible)
        .filter(row -> Arrays.equals(row.key(), key))
        .findFirst();
  }

  /** Returns the index's name for people. */
  private String name() {
    return "The index " + index.definition().design() + "/" + index.definition().name();
  }
}
