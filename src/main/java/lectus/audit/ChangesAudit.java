package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.audit.Reading.RowCursor;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.StatisticsDelta;
import lectus.json.MalformedTupleException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Audits the changes index of a database. {@link DocumentsAudit} checks that each document has its
 * entry; this class checks that there are no other entries.
 */
final class ChangesAudit {
  /** Entries whose documents are read together. */
  private static final int BATCH = 500;

  private final Reading reading;
  private final AuditedDatabase database;
  private final DatabaseHandle db;
  private final AuditReport report;
  private final ChangesSubspace changes;

  ChangesAudit(Reading reading, AuditedDatabase database, AuditReport report) {
    this.reading = reading;
    this.database = database;
    this.db = database.handle();
    this.report = report;
    this.changes = new ChangesSubspace(db);
  }

  private record Entry(ShardId shard, ChangeEntry change) {}

  /**
   * Checks each entry by itself.
   *
   * @param counted accumulates what the counters should say
   * @return the number of entries
   */
  long run(StatisticsDelta counted) {
    checkStrangers();
    long entries = 0;
    for (Generation generation : db.topology().generations()) {
      for (ShardId shard : generation.shards()) {
        entries += count(generation, shard, counted);
      }
    }
    return entries;
  }

  private long count(Generation generation, ShardId shard, StatisticsDelta counted) {
    long[] entries = new long[1];
    forEachEntry(
        shard,
        change -> {
          entries[0]++;
          counted.addEntries(generation, shard, change.docId(), 1);
          if (!db.topology().shardAt(change.docId(), change.sequence()).equals(shard)) {
            report.add(
                database.place(change.docId()),
                "its change at %s lies in the shard %s, where nobody looks for it"
                    .formatted(change.sequence(), shard));
          }
          if (!db.incarnations().has(change.sequence())) {
            report.add(
                database.place(change.docId()),
                "its change at %s lies in no incarnation that the database had"
                    .formatted(change.sequence()));
          }
        });
    return entries[0];
  }

  /** Reports entries in shards that no generation has. */
  private void checkStrangers() {
    List<Range> known = new ArrayList<>();
    for (Generation generation : db.topology().generations()) {
      generation.shards().forEach(shard -> known.add(changes.range(shard)));
    }
    Range deprecated = DatabaseSubspace.CHANGES_DEPRECATED.range(db.prefix());
    Range sharded = DatabaseSubspace.CHANGES.range(db.prefix());
    new RowsCheck(reading, report, database.place())
        .derived()
        .others(
            new Range(deprecated.begin, sharded.end),
            known,
            "a change in a shard that the database does not have");
  }

  private void forEachEntry(ShardId shard, Consumer<ChangeEntry> sink) {
    RowCursor rows = new RowCursor(reading, changes.range(shard));
    while (rows.hasNext()) {
      decode(shard, rows.next()).ifPresent(sink);
    }
  }

  private Optional<ChangeEntry> decode(ShardId shard, KeyValue row) {
    try {
      return Optional.of(changes.decode(shard, row));
    } catch (MalformedTupleException | IllegalArgumentException malformed) {
      new RowsCheck(reading, report, database.place())
          .derived()
          .reportUnreadable("A change", row, malformed);
      return Optional.empty();
    }
  }

  /** Reports the entries that do not belong to their documents. */
  void nameStrays() {
    List<Entry> batch = new ArrayList<>(BATCH);
    for (Generation generation : db.topology().generations()) {
      for (ShardId shard : generation.shards()) {
        forEachEntry(
            shard,
            change -> {
              batch.add(new Entry(shard, change));
              if (batch.size() == BATCH) {
                nameStrays(batch);
                batch.clear();
              }
            });
      }
    }
    nameStrays(batch);
  }

  private void nameStrays(List<Entry> batch) {
    List<Entry> strays = reading.read(tx -> strays(tx, db, batch));
    for (Entry stray : strays) {
      if (reading.isOneVersion() || isStillThere(stray)) {
        report.add(
            database.place(stray.change().docId()),
            "a change is left at %s in the shard %s, which is not that of its last edit"
                .formatted(stray.change().sequence(), stray.shard()),
            removing(stray));
      }
    }
  }

  private static List<Entry> strays(ReadTransaction tx, DatabaseHandle db, List<Entry> batch) {
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    List<CompletableFuture<Optional<EditBranch>>> winners =
        batch.stream().map(it -> revisions.winner(tx, it.change().docId())).toList();
    List<Entry> strays = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      if (!isOf(winners.get(i), batch.get(i))) {
        strays.add(batch.get(i));
      }
    }
    return strays;
  }

  private static boolean isOf(CompletableFuture<Optional<EditBranch>> winner, Entry entry) {
    try {
      return Awaiting.await(winner)
          .filter(EditBranch::isWinner)
          .map(it -> it.winner().sequence().equals(entry.change().sequence()))
          .orElse(false);
    } catch (MalformedTupleException | IllegalArgumentException toldWithTheDocument) {
      return true;
    }
  }

  /** What is removed is in nobody's way: no edit looks for it. */
  private Repair removing(Entry stray) {
    return Repair.of(
        Repair.Step.DERIVED_ROWS,
        "it is removed",
        tx -> {
          DatabaseHandle now = database.currentForWrites(tx);
          new RevisionsSubspace(now).conflictWithEdits(tx, stray.change().docId());
          if (isMisplaced(now, stray) || !strays(tx, now, List.of(stray)).isEmpty()) {
            changes.clear(tx, stray.shard(), stray.change().sequence());
          }
        });
  }

  private static boolean isMisplaced(DatabaseHandle db, Entry entry) {
    ChangeEntry change = entry.change();
    return !db.topology().shardAt(change.docId(), change.sequence()).equals(entry.shard());
  }

  private boolean isStillThere(Entry stray) {
    return reading.read(
        tx ->
            Awaiting.await(changes.entry(tx, stray.shard(), stray.change().sequence())).isPresent()
                && !strays(tx, database.current(tx), List.of(stray)).isEmpty());
  }
}
