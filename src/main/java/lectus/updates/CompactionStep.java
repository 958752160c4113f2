package lectus.updates;

import com.apple.foundationdb.Transaction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.UpdatesSubspace;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Takes the next rows of the updates log, oldest first, and clears the rows that they make
 * superfluous or that are superfluous themselves. All pointers are read before the first row is
 * processed, and each is written once.
 */
final class CompactionStep {
  private final Transaction tx;
  private final UpdatesSubspace rows;
  private final UpdatePointers pointers;
  private final Map<InstanceId, Versionstamp> lastUpdated = new HashMap<>();
  private final Map<DatabaseName, DatabaseUpdate> lastDeleted = new HashMap<>();

  CompactionStep(Transaction tx, UpdatesSubspace rows, UpdatePointers pointers) {
    this.tx = tx;
    this.rows = rows;
    this.pointers = pointers;
  }

  void compact(List<DatabaseUpdate> next) {
    readPointers(next);
    for (DatabaseUpdate row : next) {
      switch (row.kind()) {
        case CREATED -> {} // kept until its instance is deleted
        case UPDATED -> update(row);
        case DELETED -> delete(row);
      }
    }
    lastUpdated.forEach((instance, at) -> pointers.setUpdated(tx, instance, at));
    lastDeleted.values().forEach(row -> pointers.setDeleted(tx, row));
  }

  private void readPointers(List<DatabaseUpdate> next) {
    Map<InstanceId, CompletableFuture<Optional<Versionstamp>>> updated = new HashMap<>();
    Map<DatabaseName, CompletableFuture<Optional<DatabaseUpdate>>> deleted = new HashMap<>();
    for (DatabaseUpdate row : next) {
      if (row.kind() != DatabaseUpdate.Kind.CREATED) {
        updated.computeIfAbsent(row.instance(), it -> pointers.updated(tx.snapshot(), it));
      }
      if (row.kind() == DatabaseUpdate.Kind.DELETED) {
        deleted.computeIfAbsent(row.name(), it -> pointers.deleted(tx.snapshot(), it));
      }
    }
    updated.forEach((key, it) -> Awaiting.await(it).ifPresent(at -> lastUpdated.put(key, at)));
    Map<DatabaseName, CompletableFuture<Optional<DatabaseUpdate>>> rowsOfEnds = new HashMap<>();
    deleted.forEach(
        (name, it) ->
            Awaiting.await(it)
                .ifPresent(
                    row ->
                        rowsOfEnds.put(name, rows.read(tx.snapshot(), row.instance(), row.at()))));
    rowsOfEnds.forEach(
        (name, it) -> Awaiting.await(it).ifPresent(row -> lastDeleted.put(name, row)));
  }

  private void update(DatabaseUpdate row) {
    clear(row.instance(), lastUpdated.put(row.instance(), row.at()));
  }

  /** Ends the life: of its rows only this one stays, and it replaces the name's previous one. */
  private void delete(DatabaseUpdate row) {
    clear(row.instance(), row.joined());
    clear(row.instance(), lastUpdated.remove(row.instance()));
    pointers.clearUpdated(tx, row.instance());
    DatabaseUpdate earlier = lastDeleted.put(row.name(), row);
    if (earlier != null) {
      clear(earlier.instance(), earlier.at());
      DatabaseUpdate both = row.alsoEnding(earlier);
      rows.put(tx, both);
      lastDeleted.put(row.name(), both);
    }
  }

  /** No read depends on the absence of a row, so clearing it needs no conflict range. */
  private void clear(InstanceId instance, Versionstamp at) {
    if (at != null) {
      tx.options().setNextWriteNoWriteConflictRange();
      rows.clear(tx, instance, at);
    }
  }
}
