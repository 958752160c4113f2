package lectus.document.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.audit.AuditReport;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.Catalogue;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.LocalEdit;
import lectus.document.edit.NamedRevisions;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** A database on a store for tests, with short names for what tests do to it. */
public final class TestDatabase {
  private static final DocumentParser PARSER = new DocumentParser(DocumentLimits.DEFAULT);

  public final Store store;
  public final Catalogue catalogue;
  public final DatabaseName name;
  public final TransactionRunner transactions;
  public final DocumentWriter writer;

  private TestDatabase(Store store, DatabaseName name) {
    this.store = store;
    this.name = name;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.catalogue = new Catalogue(store, transactions, InstantSource.system());
    this.writer = new DocumentWriter(store, catalogue);
  }

  private TestDatabase(TestDatabase other, DocumentWriter writer) {
    this.store = other.store;
    this.name = other.name;
    this.transactions = other.transactions;
    this.catalogue = other.catalogue;
    this.writer = writer;
  }

  public static TestDatabase create(Store store) {
    return create(store, "db");
  }

  /** Creates a partitioned database. */
  public static TestDatabase partitioned(Store store) {
    TestDatabase database = new TestDatabase(store, DatabaseName.of("db"));
    database.catalogue.create(database.name, TestLayout.options(true, 4));
    return database;
  }

  public static TestDatabase create(Store store, String name) {
    TestDatabase database = new TestDatabase(store, DatabaseName.of(name));
    database.catalogue.create(database.name, TestLayout.OPTIONS);
    return database;
  }

  public static TestDatabase create(Store store, BodyLayout layout) {
    TestDatabase database = new TestDatabase(store, DatabaseName.of("db"));
    database.catalogue.create(database.name, TestLayout.options(layout));
    return database;
  }

  /** Opens an existing database as another server would. */
  public static TestDatabase open(Store store, String name) {
    return new TestDatabase(store, DatabaseName.of(name));
  }

  /** Returns the same database, written to by another writer. */
  public TestDatabase writtenBy(DocumentWriter other) {
    return new TestDatabase(this, other);
  }

  public void revsLimit(int limit) {
    catalogue.configure(name, was -> new DatabaseConfiguration(limit, was.partitioned()));
  }

  /** Makes an edit without a base. */
  public RevisionId put(String id, String json) {
    return written(write(edit(id, null, json)));
  }

  public RevisionId put(String id, RevisionId base, String json) {
    return written(write(edit(id, base, json)));
  }

  public RevisionId delete(String id, RevisionId base) {
    return written(write(deletion(id, base)));
  }

  /**
   * @param path the revision, then its ancestors, newest first
   */
  public EditOutcome replicate(String id, String json, String... path) {
    return write(replicated(id, json, path));
  }

  public EditOutcome write(Edit edit) {
    return write(List.of(edit)).get(0);
  }

  public List<EditOutcome> write(List<? extends Edit> edits) {
    return writer.write(name, edits).outcomes();
  }

  public static InteractiveEdit edit(String id, RevisionId base, String json) {
    return PARSER
        .interactive(id, beside(base == null ? null : base.toString()), utf8(json))
        .by(UserContext.SERVER);
  }

  public static InteractiveEdit deletion(String id, RevisionId base) {
    return InteractiveEdit.deletion(id, Optional.of(base)).by(UserContext.SERVER);
  }

  public static ReplicatedEdit replicated(String id, String json, String... path) {
    List<RevisionId> revisions = Arrays.stream(path).map(RevisionId::of).toList();
    ReplicatedEdit leaf = PARSER.replicated(id, beside(path[0]), utf8(json));
    RevisionPath history =
        new RevisionPath(
            revisions.get(0), revisions.stream().skip(1).map(RevisionId::hash).toList());
    return new ReplicatedEdit(id, history, leaf.deleted(), leaf.body()).by(UserContext.SERVER);
  }

  /**
   * @param rev the previous revision, 0-0 if there is none
   */
  public static LocalEdit local(String id, String rev, String json) {
    return PARSER.local(id, beside(rev), utf8(json));
  }

  private static NamedRevisions beside(String rev) {
    return new NamedRevisions(Optional.ofNullable(rev), Optional.empty());
  }

  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static RevisionId written(EditOutcome outcome) {
    assertThat(outcome).isInstanceOf(EditOutcome.Written.class);
    return ((EditOutcome.Written) outcome).revision();
  }

  public static LectusError error(EditOutcome outcome) {
    assertThat(outcome).isInstanceOf(EditOutcome.Failed.class);
    return ((EditOutcome.Failed) outcome).error();
  }

  public static void assertConflict(EditOutcome outcome) {
    assertThat(error(outcome)).isInstanceOf(LectusError.Conflict.class);
  }

  /** Returns the branches, winner first. */
  public List<EditBranch> branches(String id) {
    return read((tx, db) -> Awaiting.await(new RevisionsSubspace(db).branches(tx, id)));
  }

  public EditBranch winner(String id) {
    return branches(id).get(0);
  }

  /** Returns the leaves as text, winner first; tombstones in brackets. */
  public List<String> leaves(String id) {
    return branches(id).stream()
        .map(branch -> branch.deleted() ? "(" + branch.leaf() + ")" : branch.leaf().toString())
        .toList();
  }

  /** Returns the entries in feed order, provided that each generation has one shard. */
  public List<ChangeEntry> changes() {
    return read(
        (tx, db) -> {
          List<ChangeEntry> entries = new ArrayList<>();
          for (Generation generation : db.topology().generations()) {
            for (ShardId shard : generation.shards()) {
              entries.addAll(
                  Awaiting.await(
                      new ChangesSubspace(db)
                          .read(tx, shard, EntryRange.after(Optional.empty(), 0))));
            }
          }
          return entries;
        });
  }

  public Optional<AllDocsRow> allDocsRow(String id) {
    return read((tx, db) -> Awaiting.await(new AllDocsSubspace(db).get(tx, id)));
  }

  public DatabaseCounters statistics() {
    return read((tx, db) -> Awaiting.await(DatabaseCounters.read(tx, db)));
  }

  /**
   * Checks that the whole store is sound and that the database has this many documents, deleted
   * ones included.
   */
  public void audit(int documents) {
    assertThat(new StoreAudit(store, AuditListener.SILENT).run().findings()).isEmpty();
    AuditReport report = new StoreAudit(store, AuditListener.SILENT).run(name);
    assertThat(report.documents()).isEqualTo(documents);
  }

  public <T> T read(BiFunction<ReadTransaction, DatabaseHandle, T> body) {
    return transactions.read(tx -> body.apply(tx, catalogue.current(tx, name)));
  }
}
