package lectus.derived.rows;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.RefusedSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.derived.Derived;
import lectus.derived.DerivedRow;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.document.ReadAhead;
import lectus.document.read.DocumentsAhead;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The rows that an index or a stored feed has of stored documents: computed, filled in by a job,
 * and compared with those that are there. Made for one transaction, of a database as that
 * transaction sees it. Each kind says in a class of its own how a document's rows are computed.
 *
 * <p>Every transaction that writes a document keeps its rows, once it knows the definition; the
 * documents that were last written before lack them. What a writer may rely on: a document is
 * either filled in as it was last written, or it is written later, by a transaction that knows the
 * definition. It may be both, one after the other. So the writer clears what there may be of the
 * document before, whether it is there or not. No document is filled in that was written after the
 * definition: so an edit that leaves the winner, as one that makes a conflict, writes the rows,
 * too.
 *
 * <p>A filter that takes more than a little work may refuse a document or take it, as its
 * neighbours leave it room ({@link lectus.derived.EditWork}). Then the rows of the other decision
 * are among those computed, to be cleared; and a comparison lets either decision pass.
 */
public abstract class DerivedRows<D extends Derived> {
  protected final ReadTransaction tx;
  protected final DatabaseHandle db;
  private final List<D> all;

  /** What documents should have, of those whose rows are compared together. */
  private final Map<String, List<DerivedRow>> expected = new HashMap<>();

  /** Finds the class of a kind. */
  public interface Kinds {
    DerivedRows<?> of(ReadTransaction tx, DatabaseHandle db, Derived one);
  }

  /**
   * @param db with these or without them
   * @param all exactly one, but for {@link #of}
   */
  protected DerivedRows(ReadTransaction tx, DatabaseHandle db, List<D> all) {
    this.tx = tx;
    this.db = db;
    this.all = all;
  }

  public final List<D> all() {
    return all;
  }

  protected final D one() {
    return all.get(0);
  }

  /** How the rows of documents are computed. Several threads use it side by side. */
  protected abstract static class Work<S>
      implements DocumentsAhead.Work<ChangeEntry, S, List<DerivedRow>> {
    @Override
    public final long sizeOf(List<DerivedRow> rows) {
      return bytes(rows);
    }
  }

  protected abstract Work<?> work();

  /** Returns the document of a row, but for one that was refused. It fails if there is none. */
  protected abstract String documentOf(KeyValue row);

  private static long bytes(List<DerivedRow> rows) {
    return rows.stream().mapToLong(DerivedRow::bytes).sum();
  }

  /**
   * Returns the rows of each of the first documents, of as many as one transaction should read: of
   * one that is refused, the row that says why.
   *
   * @param documents their entries in the changes index
   */
  public final List<List<DerivedRow>> of(List<ChangeEntry> documents) {
    return of(documents, work(), DocumentsAhead.learning());
  }

  private <S> List<List<DerivedRow>> of(
      List<ChangeEntry> documents, Work<S> work, ReadAhead ahead) {
    return new DocumentsAhead<>(tx.getExecutor(), work, ahead).of(documents);
  }

  /**
   * What was filled in by a transaction.
   *
   * @param documents how many of the first ones, at least one
   */
  public record Filling(int documents, long rows) {}

  /**
   * Writes the rows of the first of some documents, of as many as fit into the transaction. That
   * conflicts with writers of each of them, and no writer should conflict with it.
   */
  public final Filling fill(Transaction writing, List<ChangeEntry> documents, ReadAhead ahead) {
    List<List<DerivedRow>> rows = of(documents, work(), ahead);
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    documents
        .subList(0, rows.size())
        .forEach(it -> revisions.conflictWithEdits(writing, it.docId()));
    rows.forEach(ofOne -> ofOne.forEach(row -> row.write(writing, 0)));
    long written = rows.stream().flatMap(List::stream).filter(row -> !row.isCleared()).count();
    return new Filling(rows.size(), written);
  }

  /**
   * Writes the rows of all documents, if they are not too much. The transaction conflicts with all
   * writers.
   */
  final boolean fillAtOnce(Transaction writing, List<ChangeEntry> documents, long mostBytes) {
    List<List<DerivedRow>> rows = of(documents);
    long bytes = rows.stream().mapToLong(DerivedRows::bytes).sum();
    if (rows.size() < documents.size() || bytes > mostBytes) {
      return false;
    }
    Range revisions = DatabaseSubspace.REVISIONS.range(db.prefix());
    writing.addReadConflictRange(revisions.begin, revisions.end);
    rows.forEach(ofOne -> ofOne.forEach(row -> row.write(writing, 0)));
    return true;
  }

  /**
   * A row that is not as its document makes it, or is missing.
   *
   * @param problem a sentence without a full stop
   */
  public record WrongRow(String docId, byte[] key, String problem) {}

  /**
   * The result of comparing documents that follow each other with their rows.
   *
   * @param last where the next documents begin; empty if no others follow
   */
  public record Compared(Optional<Sequence> last, List<WrongRow> wrong) {}

  /**
   * Looks whether the documents of a changes shard have their rows.
   *
   * @param after only entries after this sequence
   * @param most number of documents; it may be fewer if they are large
   */
  public final Compared compare(ShardId shard, Optional<Sequence> after, int most) {
    List<ChangeEntry> documents =
        Awaiting.await(new ChangesSubspace(db).read(tx, shard, EntryRange.after(after, most)));
    TaskProgress filled =
        Awaiting.await(new JobTasksSubspace(db).all(tx, one().number()))
            .getOrDefault(shard, TaskProgress.NONE);
    List<List<DerivedRow>> rows = of(documents);
    List<WrongRow> wrong = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      ChangeEntry document = documents.get(i);
      boolean isThere = one().isReadable() || filled.hasPassed(document.sequence());
      for (DerivedRow row : mustBeThere(rows.get(i))) {
        problem(document.docId(), isThere, row).ifPresent(wrong::add);
      }
    }
    boolean isLast = rows.size() == documents.size() && rows.size() < most;
    return new Compared(
        isLast ? Optional.empty() : Optional.of(documents.get(rows.size() - 1).sequence()), wrong);
  }

  /** Of a document that was decided otherwise, what it has then, where its value is known. */
  private List<DerivedRow> mustBeThere(List<DerivedRow> rows) {
    List<DerivedRow> otherwise =
        rows.stream()
            .filter(row -> row.isCleared() && Awaiting.await(tx.get(row.key())) != null)
            .toList();
    return !otherwise.isEmpty()
        ? otherwise.stream().filter(row -> row.value().isPresent()).toList()
        : rows.stream()
            .filter(row -> !row.isCleared())
            .filter(row -> areCertain(rows) || !isRefusal(row.key()))
            .toList();
  }

  /** Whether the rows of a document follow from it alone: none is cleared. */
  protected static boolean areCertain(List<DerivedRow> rows) {
    return rows.stream().noneMatch(DerivedRow::isCleared);
  }

  protected final boolean isRefusal(byte[] key) {
    byte[] prefix = new RefusedSubspace(db, one()).range().begin;
    return Arrays.mismatch(prefix, key) == prefix.length;
  }

  private Optional<WrongRow> problem(String id, boolean isThere, DerivedRow row) {
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

  /**
   * Reads a row that is there.
   *
   * @throws lectus.json.MalformedTupleException if it cannot be read
   */
  public final void check(KeyValue row) {
    idOf(row);
  }

  private String idOf(KeyValue row) {
    return isRefusal(row.getKey())
        ? new RefusedSubspace(db, one()).decode(row).docId()
        : documentOf(row);
  }

  /**
   * Returns what is wrong with rows that are there: whether their documents may have them. Their
   * values are compared by {@link #compare}. The reads of all begin before one is waited for; the
   * store's client then has the rows in memory.
   *
   * @return one for each of the first rows, of as many as one transaction should read, at least one
   */
  public final List<Optional<WrongRow>> problemsOf(List<KeyValue> rows) {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    List<CompletableFuture<byte[]>> stored =
        rows.stream().map(row -> tx.get(row.getKey())).toList();
    Map<String, CompletableFuture<Optional<EditBranch>>> winners = new LinkedHashMap<>();
    rows.forEach(row -> winners.computeIfAbsent(idOf(row), id -> revisions.winner(tx, id)));
    stored.forEach(Awaiting::await);
    List<ChangeEntry> documents = new ArrayList<>();
    winners.forEach(
        (id, winner) ->
            Awaiting.await(winner)
                .ifPresentOrElse(
                    it -> documents.add(ChangeEntry.of(id, it)),
                    () -> expected.put(id, List.of())));
    List<List<DerivedRow>> computed = of(documents);
    for (int i = 0; i < computed.size(); i++) {
      expected.put(documents.get(i).docId(), computed.get(i));
    }
    return rows.stream()
        .takeWhile(row -> expected.containsKey(idOf(row)))
        .map(this::problemOf)
        .toList();
  }

  protected Optional<WrongRow> problemOf(KeyValue row) {
    String id = idOf(row);
    byte[] key = row.getKey();
    if (isGone(row) || expectedOf(id).stream().anyMatch(it -> Arrays.equals(it.key(), key))) {
      return Optional.empty();
    }
    String what = isRefusal(key) ? " has a refusal" : " has an entry";
    return Optional.of(
        new WrongRow(id, key, name() + what + " that the document " + id + " should not have"));
  }

  protected final boolean isGone(KeyValue row) {
    return !Arrays.equals(Awaiting.await(tx.get(row.getKey())), row.getValue());
  }

  /** Returns what a document should have under a key; empty if it should have nothing. */
  public Optional<byte[]> expected(String docId, byte[] key) {
    return expectedOf(docId).stream()
        .filter(row -> Arrays.equals(row.key(), key))
        .findFirst()
        .flatMap(DerivedRow::value);
  }

  protected final List<DerivedRow> expectedOf(String id) {
    List<DerivedRow> known = expected.get(id);
    return known != null
        ? known
        : Awaiting.await(new RevisionsSubspace(db).winner(tx, id))
            .map(it -> of(List.of(ChangeEntry.of(id, it))).get(0))
            .orElse(List.of());
  }

  /** Returns its name for people, at the beginning of a sentence. */
  protected final String name() {
    return "The " + one().definition().title();
  }
}
