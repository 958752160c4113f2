package lectus.document.index;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import lectus.database.DatabaseHandle;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.job.JobKind;
import lectus.document.job.TasksPassed;
import lectus.index.StoredIndex;
import lectus.store.Awaiting;

/** Compares an index with the documents of its database, at one version. */
public final class IndexComparison {
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
   * What was found wrong with some documents that follow each other.
   *
   * @param last the last of them; empty if no others follow
   */
  public record Part(Optional<String> last, List<String> problems) {}

  /**
   * Looks whether the index has what it should have.
   *
   * @param after only documents behind this one
   * @param most number of documents
   */
  public Part documents(Optional<String> after, int most) {
    StoredRows.Page page = expected.read(after, most);
    Optional<String> builtUpTo =
        Awaiting.await(new IndexStatesSubspace(db).formerProgress(tx, index.number()))
            .map(IndexStatesSubspace.FormerProgress::last);
    TasksPassed progress = new TasksPassed(tx, db, JobKind.INDEX, index.number());
    List<String> problems = new ArrayList<>();
    for (int i = 0; i < page.documents().size(); i++) {
      String id = page.documents().get(i).id();
      boolean isBuilt = index.isReadable() || builtUpTo.filter(it -> !isBefore(it, id)).isPresent();
      for (EntryChange row : page.rowsOfEach().get(i)) {
        problem(id, () -> isBuilt || progress.hasPassed(id), row).ifPresent(problems::add);
      }
    }
    return new Part(page.isLast() ? Optional.empty() : page.lastId(), problems);
  }

  private Optional<String> problem(String id, BooleanSupplier isThere, EntryChange row) {
    byte[] stored = Awaiting.await(tx.get(row.key()));
    if (stored == null) {
      return isThere.getAsBoolean()
          ? Optional.of(name() + " lacks the document " + id)
          : Optional.empty();
    }
    return Arrays.equals(stored, row.value().orElseThrow())
        ? Optional.empty()
        : Optional.of(name() + " has another version of the document " + id);
  }

  /** In the order of the store. */
  private static boolean isBefore(String one, String other) {
    return Arrays.compareUnsigned(
            one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8))
        < 0;
  }

  /** Returns the range of the index's entries. */
  public static Range entries(DatabaseHandle db, StoredIndex index) {
    byte[] begin = new IndexEntriesSubspace(db, index).begin(Optional.empty());
    return new Range(begin, IndexEntriesSubspace.endOf(begin));
  }

  /** Returns the range of the documents that the index could not take. */
  public static Range refused(DatabaseHandle db, StoredIndex index) {
    return new IndexStatesSubspace(db).refused(index.number());
  }

  /**
   * Returns what is wrong with an entry: whether a document should have it.
   *
   * @throws lectus.tuple.MalformedTupleException if it cannot be read
   */
  public Optional<String> problemOfEntry(KeyValue entry) {
    return problem(new IndexEntriesSubspace(db, index).decode(entry).docId(), entry);
  }

  /** As above, of the row of a document that the index could not take. */
  public Optional<String> problemOfRefused(KeyValue row) {
    return problem(new IndexStatesSubspace(db).decodeRefused(index.number(), row).docId(), row);
  }

  private Optional<String> problem(String docId, KeyValue row) {
    if (Awaiting.await(tx.get(row.getKey())) == null) {
      return Optional.empty();
    }
    Optional<AllDocsRow> document = Awaiting.await(new AllDocsSubspace(db).get(tx, docId));
    boolean isExpected =
        document.isPresent()
            && expected.rowsOf(List.of(document.get())).get(0).stream()
                .anyMatch(it -> Arrays.equals(it.key(), row.getKey()));
    return isExpected
        ? Optional.empty()
        : Optional.of(name() + " has an entry that the document " + docId + " should not have");
  }

  /** Returns the index's name for people. */
  public String name() {
    return "The index " + index.definition().design() + "/" + index.definition().name();
  }
}
