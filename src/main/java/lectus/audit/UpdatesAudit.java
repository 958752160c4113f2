package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.UpdatePointers;
import lectus.database.Catalogue;
import lectus.database.CatalogueSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.UpdatesSubspace;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.Versionstamp;

/**
 * Compares the updates log with the databases. The log must have each living database's creation,
 * no end of it, and an update at or after its newest change. It must have nothing of a database
 * that neither exists nor ended.
 */
final class UpdatesAudit {
  private static final String LOG = "the updates log";

  private final Reading reading;
  private final UpdatesSubspace rows;
  private final UpdatePointers pointers;
  private final Range logRange;
  private final Range pointerRange;
  private final CatalogueSubspace entries;
  private final Catalogue catalogue;
  private final AuditReport report;
  private final Consumer<BiConsumer<DatabaseName, CatalogueSubspace.Entry>> databases;

  UpdatesAudit(
      Reading reading,
      Store store,
      Catalogue catalogue,
      AuditReport report,
      Consumer<BiConsumer<DatabaseName, CatalogueSubspace.Entry>> databases) {
    this.reading = reading;
    this.rows = new UpdatesSubspace(store.rootPrefix());
    this.pointers = new UpdatePointers(store.rootPrefix());
    this.logRange = RootSubspace.UPDATES.range(store.rootPrefix());
    this.pointerRange = RootSubspace.UPDATE_POINTERS.range(store.rootPrefix());
    this.entries = new CatalogueSubspace(store.rootPrefix());
    this.catalogue = catalogue;
    this.report = report;
    this.databases = databases;
  }

  /** The log's rows of one life of a database. */
  private static final class Trace {
    private final DatabaseName name;
    private Optional<Versionstamp> created = Optional.empty();
    private final Versionstamp first;
    private boolean deleted;
    private Versionstamp lastUpdate = Versionstamp.ZERO;

    private Trace(DatabaseUpdate first) {
      this.name = first.name();
      this.first = first.at();
    }

    private void take(DatabaseUpdate update) {
      switch (update.kind()) {
        case CREATED -> created = Optional.of(update.at());
        case DELETED -> deleted = true;
        case UPDATED -> lastUpdate = update.at();
      }
    }
  }

  /** Works bucket by bucket, so that it keeps only a sixteenth of the log in memory. */
  void run() {
    for (int number = 0; number < UpdatesSubspace.BUCKETS; number++) {
      int bucket = number;
      Map<InstanceId, Trace> traces = traces(bucket);
      databases.accept(
          (name, life) -> {
            if (UpdatesSubspace.bucketOf(life.instance()) == bucket) {
              check(name, life, Optional.ofNullable(traces.remove(life.instance())));
            }
          });
      traces.forEach(this::checkEnded);
    }
    checkPointers();
    checkStrangers();
  }

  private void checkStrangers() {
    List<Range> buckets = new ArrayList<>();
    for (int bucket = 0; bucket < UpdatesSubspace.BUCKETS; bucket++) {
      buckets.add(rows.range(bucket));
    }
    new RowsCheck(reading, report, LOG).others(logRange, buckets, "something in no bucket");
  }

  private void checkPointers() {
    new RowsCheck(reading, report, LOG)
        .each(
            "A pointer",
            pointerRange,
            row -> {
              if (reading.read(tx -> pointsNowhere(tx, row))) {
                String key = Texts.key(row.getKey());
                report.add(
                    LOG,
                    "a pointer to a row that is not there, the key " + key,
                    Repair.removing(row));
              }
            });
  }

  private boolean pointsNowhere(ReadTransaction tx, KeyValue pointer) {
    Optional<UpdatePointers.Target> target = pointers.target(pointer);
    if (target.isEmpty() || !isStillThere(tx, pointer)) {
      return false;
    }
    Versionstamp at = target.get().at();
    int bucket = UpdatesSubspace.bucketOf(target.get().instance());
    return Awaiting.await(rows.read(tx, bucket, at, at.successor(), 1, false)).isEmpty();
  }

  private static boolean isStillThere(ReadTransaction tx, KeyValue row) {
    return Arrays.equals(Awaiting.await(tx.get(row.getKey())), row.getValue());
  }

  private Map<InstanceId, Trace> traces(int bucket) {
    Map<InstanceId, Trace> traces = new HashMap<>();
    new RowsCheck(reading, report, LOG)
        .each(
            "A row",
            rows.range(bucket),
            row -> {
              DatabaseUpdate update = rows.decode(bucket, row);
              traces.computeIfAbsent(update.instance(), it -> new Trace(update)).take(update);
            });
    return traces;
  }

  private void check(DatabaseName name, CatalogueSubspace.Entry life, Optional<Trace> trace) {
    Optional<Versionstamp> newest = newestChange(name, life.instance());
    boolean isCreated = trace.flatMap(it -> it.created).equals(Optional.of(life.joined()));
    boolean isEnded = trace.map(it -> it.deleted).orElse(false);
    Versionstamp lastUpdate = trace.map(it -> it.lastUpdate).orElse(Versionstamp.ZERO);
    boolean isUpdated = newest.isEmpty() || newest.get().compareTo(lastUpdate) <= 0;
    if (isCreated && isUpdated && !isEnded) {
      return;
    }
    // The log was read before the catalogue: a change in between looks the same.
    Optional<String> problem = reading.read(tx -> problem(tx, name, life));
    problem.ifPresent(it -> report.add(Texts.database(name.text()), it));
  }

  private boolean hasMoved(ReadTransaction tx, DatabaseName name, CatalogueSubspace.Entry life) {
    try {
      return catalogue
          .locate(tx, name)
          .filter(db -> db.instance().equals(life.instance()))
          .flatMap(DatabaseHandle::moved)
          .isPresent();
    } catch (MalformedTupleException | IllegalArgumentException toldWithTheDatabase) {
      return false;
    }
  }

  private Optional<Versionstamp> newestChange(DatabaseName name, InstanceId instance) {
    return reading.read(tx -> newestChange(tx, name, instance));
  }

  private Optional<Versionstamp> newestChange(
      ReadTransaction tx, DatabaseName name, InstanceId instance) {
    try {
      DatabaseHandle db = catalogue.current(tx, name);
      return db.instance().equals(instance) ? newestChange(tx, db) : Optional.empty();
    } catch (LectusException e) {
      if (e.error() instanceof LectusError.NotFound) {
        return Optional.empty();
      }
      throw e;
    } catch (MalformedTupleException | IllegalArgumentException toldWithTheDatabase) {
      return Optional.empty();
    }
  }

  /** Returns where in this store it lies. */
  private static Optional<Versionstamp> newestChange(ReadTransaction tx, DatabaseHandle db) {
    ChangesSubspace changes = new ChangesSubspace(db);
    List<CompletableFuture<Optional<Sequence>>> last =
        db.topology().generations().stream()
            .flatMap(generation -> generation.shards().stream())
            .map(shard -> changes.last(tx, shard))
            .toList();
    return last.stream()
        .map(Awaiting::await)
        .flatMap(Optional::stream)
        .max(Sequence::compareTo)
        .filter(sequence -> !db.incarnations().isOfHistory(sequence))
        .map(sequence -> new Versionstamp(sequence.versionstamp()).startOfCommit());
  }

  private Optional<String> problem(
      ReadTransaction tx, DatabaseName name, CatalogueSubspace.Entry life) {
    if (!isInCatalogue(tx, name, life.instance()) || hasMoved(tx, name, life)) {
      return Optional.empty(); // deleted meanwhile, or gone from the log's readers
    }
    Optional<Versionstamp> newest = newestChange(tx, name, life.instance());
    boolean isCreated = false;
    boolean isUpdated = newest.isEmpty();
    for (DatabaseUpdate row : rowsOf(tx, life.instance(), life.joined())) {
      isCreated |= row.kind() == DatabaseUpdate.Kind.CREATED && row.at().equals(life.joined());
      isUpdated |=
          row.kind() == DatabaseUpdate.Kind.UPDATED
              && newest.map(it -> it.compareTo(row.at()) <= 0).orElse(true);
      if (row.kind() == DatabaseUpdate.Kind.DELETED) {
        return Optional.of("the updates log says that it was deleted");
      }
    }
    if (!isCreated) {
      return Optional.of("the updates log does not tell of its creation");
    }
    return isUpdated
        ? Optional.empty()
        : Optional.of("the updates log tells of nothing since its last change, " + newest.get());
  }

  /** Returns true also for an unreadable entry, which the catalogue's audit reports. */
  private boolean isInCatalogue(ReadTransaction tx, DatabaseName name, InstanceId instance) {
    byte[] value = Awaiting.await(tx.get(entries.key(name.text())));
    try {
      return value != null && entries.entry(value).instance().equals(instance);
    } catch (MalformedTupleException unreadable) {
      return true;
    }
  }

  /** Returns one instance's rows from a point on, read at one version. */
  private List<DatabaseUpdate> rowsOf(ReadTransaction tx, InstanceId instance, Versionstamp from) {
    int bucket = UpdatesSubspace.bucketOf(instance);
    byte[] begin = rows.key(instance, from);
    List<DatabaseUpdate> found = new ArrayList<>();
    for (KeyValue row : tx.getRange(begin, rows.range(bucket).end)) {
      try {
        DatabaseUpdate update = rows.decode(bucket, row);
        if (update.instance().equals(instance)) {
          found.add(update);
        }
      } catch (MalformedTupleException toldWithTheBucket) {
        continue;
      }
    }
    return found;
  }

  private void checkEnded(InstanceId instance, Trace trace) {
    // The database may have been deleted since the log was read.
    if (!trace.deleted && !reading.read(tx -> hasEndedOrBegun(tx, instance, trace))) {
      report.add(
          LOG,
          "it tells of the life %s of %s, which is neither there nor ended"
              .formatted(instance, Texts.database(trace.name.text())));
    }
  }

  private boolean hasEndedOrBegun(ReadTransaction tx, InstanceId instance, Trace trace) {
    if (isInCatalogue(tx, trace.name, instance)) {
      return true;
    }
    List<DatabaseUpdate> left = rowsOf(tx, instance, trace.first);
    return left.isEmpty()
        || left.stream().anyMatch(row -> row.kind() == DatabaseUpdate.Kind.DELETED);
  }
}
