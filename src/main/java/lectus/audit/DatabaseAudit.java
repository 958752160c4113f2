package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import lectus.audit.DerivedAudit.ViewsAudit;
import lectus.audit.Reading.RowCursor;
import lectus.changes.log.PurgesSubspace;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.ConfigSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.DerivedSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Era;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.database.StatisticsSubspace.StatisticsDelta;
import lectus.database.ValidatorsSubspace;
import lectus.document.write.AutoPurgeSubspace;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.store.Awaiting;

/** Audits everything below the prefix of one database. */
final class DatabaseAudit {
  private final Reading reading;
  private final AuditedDatabase database;
  private final AuditReport report;
  private final StatisticsDelta counted;
  private final byte[] root;

  private DatabaseAudit(
      Reading reading, AuditedDatabase database, AuditReport report, byte[] root) {
    this.root = root.clone();
    this.reading = reading;
    this.database = database;
    this.report = report;
    this.counted = new StatisticsDelta(database.handle().configuration().partitioned());
  }

  /**
   * @param root the prefix of the store's keys
   * @return false if the database was resharded meanwhile, so that this result does not count
   * @throws LectusException {@code not_found} if the database does not exist, or ends meanwhile
   */
  static boolean run(
      Reading reading, Catalogue catalogue, DatabaseName name, AuditReport report, byte[] root) {
    report.countDatabase();
    String place = Texts.database(name.text());
    DatabaseHandle db;
    try {
      db = reading.read(tx -> catalogue.current(tx, name));
    } catch (MalformedTupleException | IllegalArgumentException unreadable) {
      report.add(place, "its configuration cannot be read (" + unreadable.getMessage() + ")");
      reading
          .<Optional<DatabaseInstance>>read(tx -> Awaiting.await(catalogue.life(tx, name)))
          .ifPresent(life -> checkHandle(new RowsCheck(reading, report, place), life.prefix()));
      return true;
    }
    AuditedDatabase database = new AuditedDatabase(catalogue, db);
    new DatabaseAudit(reading, database, report, root).run();
    return reading.read(database::current).topology().equals(db.topology());
  }

  /** Names the rows because of which a database cannot be opened. */
  private static void checkHandle(RowsCheck rows, byte[] prefix) {
    rows.each(
        "A field of the configuration",
        DatabaseSubspace.CONFIG.range(prefix),
        row -> ConfigSubspace.check(prefix, row));
    DerivedSubspace derived = new DerivedSubspace(prefix);
    rows.each("An index or a stored feed", DatabaseSubspace.DERIVED.range(prefix), derived::decode);
    ValidatorsSubspace validators = new ValidatorsSubspace(prefix);
    rows.derived()
        .each(
            "A row of the validators",
            DatabaseSubspace.VALIDATORS.range(prefix),
            validators::decode);
  }

  private void run() {
    Optional<Sequence> before = lastUpdate();
    checkTopology();
    checkStrangers();
    long documents = new DocumentsAudit(reading, database, report, counted).run();
    ChangesAudit changes = new ChangesAudit(reading, database, report);
    long entries = changes.run(counted);
    if (entries != documents || !report.isSound()) {
      changes.nameStrays();
    }
    new LocalDocumentsAudit(reading, database, report).run();
    checkPurges();
    new AttachmentsAudit(reading, database, report).run();
    new DerivedAudit(reading, database, report, root).run();
    new ViewsAudit(reading, database, report).run();
    AuditReport counters = report.part();
    checkCounters(counters);
    if (reading.isOneVersion() || isAsItWas(before)) {
      report.takeOver(counters);
    } else {
      report.note(
          "The counters of %s could not be compared, because it was written to meanwhile."
              .formatted(database.place()));
    }
  }

  private void checkStrangers() {
    byte[] prefix = database.handle().prefix();
    new RowsCheck(reading, report, database.place())
        .others(
            Range.startsWith(prefix),
            Stream.of(DatabaseSubspace.values()).map(it -> it.range(prefix)).toList(),
            "something that belongs to no subspace");
  }

  /** What was purged may have come again since, so the list says nothing of the documents. */
  private void checkPurges() {
    RowsCheck rows = new RowsCheck(reading, report, database.place()).derived();
    PurgesSubspace purges = new PurgesSubspace(database.handle());
    rows.each("A purge", purges.range(), purges::decode);
    AutoPurgeSubspace settings = new AutoPurgeSubspace(database.handle());
    rows.each("A setting of tombstones", settings.range(), settings::decode);
    byte[] prefix = database.handle().prefix();
    new RowsCheck(reading, report, database.place())
        .each(
            "A number of indexes and stored feeds",
            DatabaseSubspace.NUMBERS.range(prefix),
            new DerivedSubspace(prefix)::checkNumber);
  }

  /** Empty also if it cannot be read, which the checks of its rows report. */
  private Optional<Sequence> lastUpdate() {
    try {
      return reading.read(tx -> Awaiting.await(new UpdateSequence(database.current(tx)).read(tx)));
    } catch (MalformedTupleException | IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  private boolean isAsItWas(Optional<Sequence> before) {
    byte[] version = reading.read(tx -> database.current(tx).version());
    return Arrays.equals(version, database.handle().version()) && lastUpdate().equals(before);
  }

  /** Generations of shards follow each other, and no shard belongs to two. */
  private void checkTopology() {
    if (database.handle().version().length == 0) {
      report.add(database.place(), "it has no configuration");
    }
    if (!database.handle().incarnations().current().begun().equals(database.handle().joined())) {
      report.add(database.place(), "its incarnation did not begin where it came");
    }
    ShardTopology topology = database.handle().topology();
    List<Generation> generations = topology.generations();
    Set<ShardId> shards = new HashSet<>();
    checkOrder(topology.eras());
    for (int i = 0; i < generations.size(); i++) {
      Generation generation = generations.get(i);
      boolean isLast = i == generations.size() - 1;
      if (generation.replaced() == isLast) {
        report.add(
            database.place(),
            isLast ? "its current shard map is replaced" : "an old shard map is not replaced");
      }
      for (ShardId shard : generation.shards()) {
        boolean isEmptied = topology.emptied().stream().anyMatch(it -> it.has(shard));
        if (!shards.add(shard) || isEmptied) {
          report.add(database.place(), "the shard " + shard + " comes twice in its shard maps");
        }
      }
    }
  }

  /** The first generation begins at 0, the others at sequences. */
  private void checkOrder(List<Era> eras) {
    for (int i = 0; i < eras.size(); i++) {
      if (eras.get(i).since().isEmpty() != (i == 0)) {
        report.add(database.place(), "its shard maps do not follow each other");
      }
    }
  }

  /** Compares the counters with what was counted, slot by slot. */
  private void checkCounters(AuditReport counters) {
    DatabaseHandle db = database.handle();
    Map<ByteBuffer, Long> expected = counted.values(db);
    RowCursor rows = new RowCursor(reading, DatabaseSubspace.STATISTICS.range(db.prefix()));
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      Long count = expected.remove(ByteBuffer.wrap(row.getKey()));
      checkCounter(counters, row, count == null ? 0 : count);
    }
    expected.forEach((key, count) -> compare(counters, key.array(), 0, count));
  }

  private void checkCounter(AuditReport counters, KeyValue row, long expected) {
    if (row.getValue().length != Long.BYTES) {
      counters.add(
          database.place(),
          "a counter is not 8 bytes long, the key " + Texts.key(row.getKey()),
          Repair.removing(row));
      return;
    }
    compare(counters, row.getKey(), StatisticsSubspace.number(row.getValue()), expected);
  }

  private void compare(AuditReport counters, byte[] key, long found, long expected) {
    Optional<String> name = StatisticsSubspace.nameOf(database.handle().prefix(), key);
    if (name.isEmpty()) {
      counters.add(
          database.place(),
          "an unknown counter, the key " + Texts.key(key),
          Repair.of(Repair.Step.ROWS, "it is removed", tx -> tx.clear(key)));
    } else if (found != expected) {
      counters.add(
          database.place(),
          "the counter of " + name.get() + " says " + found + ", there are " + expected,
          Repair.of(
              Repair.Step.COUNTERS,
              "it is set to " + expected,
              tx -> {
                database.currentForWrites(tx);
                DatabaseCounters.add(tx, key, expected - found);
              }));
    }
  }

  /** One life of a database, which must not end during the audit. */
  record AuditedDatabase(Catalogue catalogue, DatabaseHandle handle) {
    /**
     * Returns the handle at another version.
     *
     * @throws LectusException {@code not_found} if this life has ended
     */
    DatabaseHandle current(ReadTransaction tx) {
      DatabaseHandle now = catalogue.current(tx, handle.name());
      if (!now.instance().equals(handle.instance())) {
        throw LectusException.notFound("Database does not exist.");
      }
      return now;
    }

    /** As above, in a transaction that writes what belongs to this life. */
    DatabaseHandle currentForWrites(Transaction tx) {
      DatabaseHandle now = current(tx);
      return catalogue.currentForWrites(tx, now.name());
    }

    String place() {
      return Texts.database(handle.name().text());
    }

    String place(String docId) {
      return Texts.document(handle.name().text(), docId);
    }
  }
}
