package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.changes.page.DeletedDatabases;
import lectus.changes.testing.MovedDatabase;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseSettings;
import lectus.database.DatabaseCache;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DeletedSubspace;
import lectus.database.NameRange;
import lectus.database.Sequence;
import lectus.database.testing.TestLayout;
import lectus.document.edit.Edit;
import lectus.document.edit.LocalEdit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/** The databases of one store, with short methods for what tests do to them. */
public final class StoreDatabases {
  public final Store store;
  public final TransactionRunner transactions;
  public final Catalogue catalogue;
  private final DocumentWriter writer;
  private final Map<String, RevisionId> revisions = new HashMap<>();

  public StoreDatabases(Store store) {
    this.store = store;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.catalogue = new Catalogue(store, transactions, InstantSource.system());
    this.writer = new DocumentWriter(store, catalogue);
  }

  public DatabaseHandle create(String name) {
    return create(name, 1);
  }

  public DatabaseHandle create(String name, int shards) {
    return catalogue.create(DatabaseName.of(name), TestLayout.options(false, shards));
  }

  public void delete(String name) {
    catalogue.delete(DatabaseName.of(name));
    revisions.keySet().removeIf(key -> key.startsWith(name + "/"));
  }

  /** Deletes a database as a server does that keeps those that are deleted, and brings it back. */
  public void deleteAndUndelete(String name, Runnable between) {
    DatabaseName database = DatabaseName.of(name);
    new Catalogue(
            store,
            transactions,
            InstantSource.system(),
            new DatabaseCache(store.rootPrefix(), 0),
            () -> new DatabaseSettings(BodyLayout.INLINE, 60))
        .delete(database);
    between.run();
    DeletedSubspace rows = new DeletedSubspace(store.rootPrefix());
    String timestamp =
        transactions
            .read(tx -> Awaiting.await(rows.read(tx, rows.range(), 1, false)))
            .get(0)
            .timestamp();
    new DeletedDatabases(store, catalogue, transactions)
        .undelete(database, timestamp, database, false);
  }

  /** Copies a database as if it had been written in another store. */
  public MovedDatabase moveIn(String from, String to, long shift) {
    MovedDatabase moved =
        MovedDatabase.copy(
            transactions, catalogue, DatabaseName.of(from), DatabaseName.of(to), shift);
    Map.copyOf(revisions)
        .forEach(
            (key, revision) -> {
              if (key.startsWith(from + "/")) {
                revisions.put(to + key.substring(from.length()), revision);
              }
            });
    return moved;
  }

  public void reshard(String name, int shards) {
    catalogue.reshard(DatabaseName.of(name), shards);
  }

  public boolean exists(String name) {
    DatabaseName wanted = DatabaseName.of(name);
    NameRange range = new NameRange(Optional.of(name), Optional.of(name), false, 0, Long.MAX_VALUE);
    return catalogue.names(range).names().contains(wanted);
  }

  /** Writes the next revision of each document in one transaction. */
  public WriteResult put(String name, String... ids) {
    List<Edit> edits = new ArrayList<>();
    for (String id : ids) {
      RevisionId base = revisions.get(name + "/" + id);
      edits.add(TestDatabase.edit(id, base, "{\"in\":\"" + name + "\"}"));
    }
    WriteResult result = writer.writeAtomically(DatabaseName.of(name), edits);
    for (EditOutcome outcome : result.outcomes()) {
      assertThat(outcome).isInstanceOf(EditOutcome.Written.class);
      revisions.put(name + "/" + outcome.id(), ((EditOutcome.Written) outcome).revision());
    }
    return result;
  }

  /** Like {@link #put}, but returns the sequence of each document. */
  public Map<String, Sequence> putAll(String name, String... ids) {
    Sequence last = put(name, ids).last().orElseThrow();
    byte[] commit = Arrays.copyOf(last.versionstamp(), Versionstamp.TRANSACTION_LENGTH);
    Map<String, Sequence> sequences = new HashMap<>();
    for (int number = 0; number < ids.length; number++) {
      sequences.put(ids[number], Sequence.of(last.incarnation(), commit, number + 1));
    }
    return sequences;
  }

  public WriteResult putLocal(String name, String id) {
    return writer.write(
        DatabaseName.of(name), List.of(TestDatabase.local(id, LocalEdit.NO_REVISION, "{}")));
  }

  /** Writes without a base revision. */
  public WriteResult write(String name, String id, String json) {
    return writer.write(DatabaseName.of(name), List.of(TestDatabase.edit(id, null, json)));
  }
}
