package lectus.document;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.audit.AuditListener;
import lectus.audit.AuditReport;
import lectus.audit.StoreAudit;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.database.Catalogue;
import lectus.database.CreationOptions;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Generation;
import lectus.database.ShardId;
import lectus.database.Statistics;
import lectus.error.LectusError;
import lectus.json.JsonInput;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.revision.RevisionsSubspace;
import lectus.store.Reads;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** A database on a store for tests, with short words for what tests do to it. */
final class TestDatabase {
  private static final DocumentParser PARSER = new DocumentParser(DocumentLimits.DEFAULT);

  final Store store;
  final Catalogue catalogue;
  final DatabaseName name;
  final TransactionRunner transactions;
  final DocumentWriter writer;

  private TestDatabase(Store store, DatabaseName name, TransactionBudget budget) {
    this.store = store;
    this.name = name;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.catalogue = new Catalogue(store, transactions, InstantSource.system());
    this.writer = new DocumentWriter(store, catalogue, budget, TransactionLimits.DEFAULT);
  }

  static TestDatabase create(Store store) {
    return create(store, "db", TransactionBudget.DEFAULT);
  }

  /** A partitioned one. */
  static TestDatabase partitioned(Store store) {
    TestDatabase database =
        new TestDatabase(store, DatabaseName.of("db"), TransactionBudget.DEFAULT);
    database.catalogue.create(database.name, new CreationOptions(true, 4));
    return database;
  }

  static TestDatabase create(Store store, String name, TransactionBudget budget) {
    TestDatabase database = new TestDatabase(store, DatabaseName.of(name), budget);
    database.catalogue.create(database.name, CreationOptions.DEFAULT);
    return database;
  }

  /** As another server sees a database that is there already. */
  static TestDatabase open(Store store, String name) {
    return new TestDatabase(store, DatabaseName.of(name), TransactionBudget.DEFAULT);
  }

  void revsLimit(int limit) {
    catalogue.configure(name, was -> new DatabaseConfiguration(limit, was.partitioned()));
  }

  /** An edit without a base. */
  RevisionId put(String id, String json) {
    return written(write(edit(id, null, json)));
  }

  RevisionId put(String id, RevisionId base, String json) {
    return written(write(edit(id, base, json)));
  }

  RevisionId delete(String id, RevisionId base) {
    return written(write(deletion(id, base)));
  }

  /**
   * @param path the revision, then its ancestors, newest first
   */
  EditOutcome replicate(String id, String json, String... path) {
    return write(replicated(id, json, path));
  }

  EditOutcome write(Edit edit) {
    return write(List.of(edit)).get(0);
  }

  List<EditOutcome> write(List<? extends Edit> edits) {
    return writer.write(name, edits).outcomes();
  }

  static DocumentEdit edit(String id, RevisionId base, String json) {
    return PARSER.interactive(id, Optional.ofNullable(base), utf8(json));
  }

  static DocumentEdit deletion(String id, RevisionId base) {
    return DocumentEdit.deletion(id, Optional.of(base));
  }

  static ReplicatedEdit replicated(String id, String json, String... path) {
    List<RevisionId> revisions = Arrays.stream(path).map(RevisionId::of).toList();
    ParsedDocument document;
    try (JsonInput input = JsonInput.of(utf8(json))) {
      input.next();
      document = PARSER.element(input);
    }
    RevisionPath history =
        new RevisionPath(
            revisions.get(0), revisions.stream().skip(1).map(RevisionId::hash).toList());
    return new ReplicatedEdit(id, history, document.deleted(), document.body());
  }

  /**
   * @param rev the revision before, 0-0 if there is none
   */
  static LocalEdit local(String id, String rev, String json) {
    return PARSER.local(id, Optional.of(rev), utf8(json));
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static RevisionId written(EditOutcome outcome) {
    assertThat(outcome).isInstanceOf(EditOutcome.Written.class);
    return ((EditOutcome.Written) outcome).revision();
  }

  static LectusError error(EditOutcome outcome) {
    assertThat(outcome).isInstanceOf(EditOutcome.Failed.class);
    return ((EditOutcome.Failed) outcome).error();
  }

  static void assertConflict(EditOutcome outcome) {
    assertThat(error(outcome)).isInstanceOf(LectusError.Conflict.class);
  }

  /** Winner first. */
  List<EditBranch> branches(String id) {
    return read((tx, db) -> Reads.await(new RevisionsSubspace(db).branches(tx, id)));
  }

  EditBranch winner(String id) {
    return branches(id).get(0);
  }

  /** The leaves as they are printed, winner first; tombstones in brackets. */
  List<String> leaves(String id) {
    return branches(id).stream()
        .map(branch -> branch.deleted() ? "(" + branch.leaf() + ")" : branch.leaf().toString())
        .toList();
  }

  /** In the order of the feed, as long as each generation has one shard. */
  List<ChangeEntry> changes() {
    return read(
        (tx, db) -> {
          List<ChangeEntry> entries = new ArrayList<>();
          for (Generation generation : db.topology().generations()) {
            for (ShardId shard : generation.shards()) {
              entries.addAll(
                  Reads.await(
                      new ChangesSubspace(db)
                          .read(tx, shard, Optional.empty(), Optional.empty(), 0, false)));
            }
          }
          return entries;
        });
  }

  Optional<AllDocsRow> allDocsRow(String id) {
    return read((tx, db) -> Reads.await(new AllDocsSubspace(db).get(tx, id)));
  }

  Statistics statistics() {
    return read((tx, db) -> Reads.await(Statistics.read(tx, db)));
  }

  /** The whole store is sound, and the database has so many documents, deleted ones included. */
  void audit(int documents) {
    assertThat(new StoreAudit(store, AuditListener.SILENT).run().findings()).isEmpty();
    AuditReport report = new StoreAudit(store, AuditListener.SILENT).run(name);
    assertThat(report.documents()).isEqualTo(documents);
  }

  <T> T read(BiFunction<ReadTransaction, DatabaseHandle, T> body) {
    return transactions.read(tx -> body.apply(tx, catalogue.current(tx, name)));
  }
}
