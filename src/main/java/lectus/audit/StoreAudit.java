package lectus.audit;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.directory.DirectoryLayer;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import lectus.account.AdminsSubspace;
import lectus.account.SecretsSubspace;
import lectus.audit.AuditReport.Finding;
import lectus.audit.DatabaseAudit.AuditedDatabase;
import lectus.audit.DerivedAudit.JobsAudit;
import lectus.audit.Reading.RowCursor;
import lectus.database.Catalogue;
import lectus.database.CatalogueSubspace;
import lectus.database.CatalogueVersion;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DeletedSubspace;
import lectus.database.DeletedSubspace.Deleted;
import lectus.database.InstanceId;
import lectus.database.RelocationsSubspace;
import lectus.database.RestoresSubspace;
import lectus.database.RestoresSubspace.Restore;
import lectus.database.SettingsSubspace;
import lectus.derived.rows.JobsSubspace;
import lectus.document.write.TimesSubspace;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.store.Awaiting;
import lectus.store.BucketsSubspace;
import lectus.store.LeaseSubspace;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.StoreIdentity;
import lectus.store.TransactionIdSubspace;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Checks that a store, or one database, is as its writers leave it. It only reads. It keeps in
 * memory no more than a few pages and a line for each database.
 *
 * <p>What one transaction can read is read at one version. Anything larger is read page by page,
 * each at its own version. Something may then look wrong only because others write meanwhile, so it
 * is checked again in one transaction before it counts.
 */
public final class StoreAudit {
  /** Less than the five seconds that a transaction lives. */
  private static final Duration AT_ONE_VERSION = Duration.ofSeconds(2);

  /** The prefix of the directory layer's own data. */
  private static final byte[] DIRECTORY_LAYER = {(byte) 0xfe};

  private static final byte[] AFTER_ALL_KEYS = {(byte) 0xff};

  /** How often the audit of a database is restarted because it was resharded meanwhile. */
  private static final int ATTEMPTS = 5;

  private static final TransactionLimits ONCE = new TransactionLimits(0, Duration.ofSeconds(10));

  private final Duration atOneVersion;
  private final Store store;
  private final TransactionRunner once;
  private final Catalogue catalogue;
  private final AuditReport report;
  private final Reading pages;
  private final RowsCheck rows;

  public StoreAudit(Store store, AuditListener listener) {
    this(store, listener, AT_ONE_VERSION);
  }

  /**
   * @param atOneVersion how long to try to read a database in one transaction
   */
  public StoreAudit(Store store, AuditListener listener, Duration atOneVersion) {
    this.atOneVersion = atOneVersion;
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.store = store;
    this.once = new TransactionRunner(store, ONCE);
    this.catalogue = new Catalogue(store, transactions, InstantSource.system());
    this.report = new AuditReport(listener);
    this.pages = new Reading.Paged(transactions, report.versions());
    this.rows = new RowsCheck(pages, report, "the store");
  }

  /**
   * Audits one database.
   *
   * @throws LectusException {@code not_found} if it does not exist
   */
  public AuditReport run(DatabaseName name) {
    audit(name);
    return report;
  }

  /** Audits all databases and the store's own data. */
  public AuditReport run() {
    rows.others(
        Range.startsWith(store.rootPrefix()),
        Stream.of(RootSubspace.values()).map(this::knownOf).toList(),
        "something that belongs to no subspace");
    DirectoriesAudit directories = new DirectoriesAudit(pages, store, report);
    List<Range> known = new ArrayList<>();
    forEachDatabase(
        (name, life) -> {
          known.add(Range.startsWith(life.prefix()));
          directories.check(name, life);
          auditIfThere(name);
        },
        new RowsCheck(pages, report, "the catalogue"));
    for (Restore restore : restores()) {
      known.add(Range.startsWith(restore.life().prefix()));
      directories.left.remove(restore.life().instance().hex());
    }
    for (Deleted kept : deleted()) {
      known.add(Range.startsWith(kept.life().prefix()));
      directories.checkKept(kept);
    }
    directories.checkLeft();
    if (store.isAlone()) {
      checkStrangers(known);
    }
    new UpdatesAudit(
            pages,
            store,
            catalogue,
            report,
            sink -> forEachDatabase(sink, new RowsCheck(pages, report.part(), "told already")))
        .run();
    noteTransactionIds();
    checkRows();
    return report;
  }

  /** Returns those of which the rows can be read. */
  private List<Restore> restores() {
    try {
      return once.read(tx -> Awaiting.await(new RestoresSubspace(store.rootPrefix()).all(tx)));
    } catch (MalformedTupleException toldLater) {
      return List.of();
    }
  }

  /** The same of databases that were deleted and are kept. */
  private List<Deleted> deleted() {
    DeletedSubspace rows = new DeletedSubspace(store.rootPrefix());
    return pages.read(tx -> Awaiting.await(rows.read(tx, rows.range(), 0, false)));
  }

  private void checkRows() {
    byte[] root = store.rootPrefix();
    LeaseSubspace leases = new LeaseSubspace(root);
    rows.each("A lease", leases.range(), leases::task);
    BucketsSubspace buckets = new BucketsSubspace(root);
    rows.each("A bucket", buckets.range(), buckets::check);
    AdminsSubspace admins = new AdminsSubspace(root);
    rows.each("An admin", admins.range(), admins::admin);
    SecretsSubspace secrets = new SecretsSubspace(root);
    rows.each("A secret", secrets.range(), secrets::name);
    SettingsSubspace settings = new SettingsSubspace(root);
    rows.each("A setting", settings.range(), settings::check);
    TimesSubspace times = new TimesSubspace(root);
    rows.each("A time of the store", times.range(), times::decode);
    RestoresSubspace restores = new RestoresSubspace(root);
    rows.each("A restore", restores.range(), restores::decode);
    RelocationsSubspace relocations = new RelocationsSubspace(root);
    rows.each("A relocation", relocations.range(), relocations::check);
    JobsSubspace jobs = new JobsSubspace(root);
    rows.each("A job", jobs.range(), jobs::decode);
    DeletedSubspace deleted = new DeletedSubspace(root);
    rows.each("A deleted database", deleted.range(), deleted::decode);
  }

  /** Some subspaces have one row. */
  private Range knownOf(RootSubspace subspace) {
    byte[] root = store.rootPrefix();
    return switch (subspace) {
      case CATALOGUE_VERSION -> only(CatalogueVersion.key(root));
      case STORE_ID -> only(StoreIdentity.key(root));
      default -> subspace.range(root);
    };
  }

  private static Range only(byte[] key) {
    return new Range(key, ByteArrayUtil.join(key, new byte[1]));
  }

  private void checkStrangers(List<Range> databases) {
    List<Range> known = new ArrayList<>(databases);
    known.add(Range.startsWith(store.rootPrefix()));
    known.add(Range.startsWith(DIRECTORY_LAYER));
    rows.others(new Range(new byte[0], AFTER_ALL_KEYS), known, "something of no database");
  }

  private void auditIfThere(DatabaseName name) {
    try {
      audit(name);
    } catch (LectusException e) {
      if (!(e.error() instanceof LectusError.NotFound)) {
        throw e;
      }
      String database = "The " + Texts.database(name.text());
      report.note(
          pages
              .read(tx -> catalogue.locate(tx, name))
              .flatMap(DatabaseHandle::moved)
              .map(
                  it -> database + " has moved to " + it.place() + ". What is left is not checked.")
              .orElse(database + " was deleted meanwhile."));
    }
  }

  private void audit(DatabaseName name) {
    AuditReport part;
    try {
      part = once.read(tx -> atOneVersion(tx, name));
    } catch (Reading.Snapshot.OverdueException tooLarge) {
      part = pageByPage(name);
    } catch (FDBException failure) {
      if (!FoundationDbError.isRetryable(failure.getCode())) {
        throw failure;
      }
      part = pageByPage(name);
    }
    report.takeOver(part);
    report.takeOver(once.read(tx -> jobs(tx, name)));
  }

  private AuditReport jobs(ReadTransaction tx, DatabaseName name) {
    AuditReport part = report.part();
    try {
      DatabaseHandle db = catalogue.current(tx, name);
      return new JobsAudit(tx, store.rootPrefix(), new AuditedDatabase(catalogue, db), part).run();
    } catch (MalformedTupleException | IllegalArgumentException toldAlready) {
      return part;
    }
  }

  private AuditReport atOneVersion(ReadTransaction tx, DatabaseName name) {
    AuditReport part = report.part();
    long deadline = System.nanoTime() + atOneVersion.toNanos();
    part.versions().include(Awaiting.await(tx.getReadVersion()));
    DatabaseAudit.run(
        new Reading.Snapshot(tx, deadline), catalogue, name, part, store.rootPrefix());
    return part;
  }

  private AuditReport pageByPage(DatabaseName name) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      AuditReport part = report.part();
      if (DatabaseAudit.run(pages, catalogue, name, part, store.rootPrefix())) {
        return part;
      }
    }
    throw LectusException.unavailable(
        "The " + Texts.database(name.text()) + " keeps being resharded.");
  }

  private void forEachDatabase(
      BiConsumer<DatabaseName, CatalogueSubspace.Entry> sink, RowsCheck unreadable) {
    CatalogueSubspace entries = new CatalogueSubspace(store.rootPrefix());
    RowCursor rows = new RowCursor(pages, entries.range());
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      DatabaseName name;
      CatalogueSubspace.Entry life;
      try {
        name = entries.name(row.getKey());
        life = entries.entry(row.getValue());
      } catch (MalformedTupleException malformed) {
        unreadable.reportUnreadable("An entry", row, malformed);
        continue;
      }
      sink.accept(name, life);
    }
  }

  /** Leftover ids are no finding: they are swept some day, whichever server left them. */
  private void noteTransactionIds() {
    TransactionIdSubspace ids = new TransactionIdSubspace(store.rootPrefix());
    AtomicLong left = new AtomicLong();
    rows.each(
        "A transaction id",
        ids.range(),
        row -> {
          left.incrementAndGet();
          ids.check(row);
        });
    if (left.get() > 0) {
      report.note(left + " transaction ids wait to be cleared.");
    }
  }

  /**
   * Compares the directories of the directory layer with the catalogue: each life has exactly one.
   */
  private static final class DirectoriesAudit {
    private final Reading reading;
    private final Store store;
    private final CatalogueSubspace entries;
    private final AuditReport report;
    private final DirectoryLayer directories = new DirectoryLayer();

    /**
     * Instances whose directories have not been matched yet, listed before the catalogue is read.
     */
    private final Set<String> left;

    DirectoriesAudit(Reading reading, Store store, AuditReport report) {
      this.reading = reading;
      this.store = store;
      this.entries = new CatalogueSubspace(store.rootPrefix());
      this.report = report;
      this.left = new HashSet<>(reading.read(this::list));
    }

    private List<String> list(ReadTransaction tx) {
      List<String> all = path(Catalogue.DIRECTORY);
      return Awaiting.await(directories.exists(tx, all))
          ? Awaiting.await(directories.list(tx, all))
          : List.of();
    }

    /** Checks that a life has its directory, with the catalogue's prefix. */
    void check(DatabaseName name, CatalogueSubspace.Entry life) {
      left.remove(life.instance().hex());
      Optional<String> problem = reading.read(tx -> problem(tx, name, life.instance()));
      problem.ifPresent(it -> report.add(Texts.database(name.text()), it));
    }

    /** Checks the same of a database that was deleted and is kept. */
    void checkKept(Deleted kept) {
      left.remove(kept.life().instance().hex());
      List<String> path = path(Catalogue.directoryOf(kept.life().instance()));
      DeletedSubspace rows = new DeletedSubspace(store.rootPrefix());
      boolean isLost =
          reading.read(
              tx ->
                  !Awaiting.await(directories.exists(tx, path))
                      && !Awaiting.await(rows.read(tx, rows.range(kept), 1, false)).isEmpty());
      if (isLost) {
        report.add(
            Texts.database(kept.life().name().text()),
            "the directory of what was deleted at " + kept.timestamp() + " is missing");
      }
    }

    private Optional<String> problem(ReadTransaction tx, DatabaseName name, InstanceId instance) {
      byte[] value = Awaiting.await(tx.get(entries.key(name.text())));
      if (value == null || !entries.entry(value).instance().equals(instance)) {
        return Optional.empty(); // deleted meanwhile
      }
      List<String> path = path(Catalogue.directoryOf(instance));
      if (!Awaiting.await(directories.exists(tx, path))) {
        return Optional.of("the directory of its life " + instance + " is missing");
      }
      byte[] prefix = Awaiting.await(directories.open(tx, path)).getKey();
      return Arrays.equals(prefix, entries.entry(value).prefix())
          ? Optional.empty()
          : Optional.of("its prefix in the catalogue is not the directory layer's");
    }

    /** Reports the directories that belong to no database. */
    void checkLeft() {
      for (String instance : left) {
        List<String> path = path(Catalogue.directoryOf(new InstanceId(instance)));
        if (reading.read(tx -> Awaiting.await(directories.exists(tx, path)))) {
          report.add(
              "the store", "a directory is left of the life " + instance + " of no database");
        }
      }
    }

    private List<String> path(List<String> belowRoot) {
      List<String> path = new ArrayList<>(store.directory().getPath());
      path.addAll(belowRoot);
      return path;
    }
  }

  /** Receives the progress of an audit, on the thread that runs it. */
  public interface AuditListener {
    /** Ignores progress. */
    AuditListener SILENT =
        new AuditListener() {
          @Override
          public void found(Finding finding) {}

          @Override
          public void reached(String what, long count) {}
        };

    void found(Finding finding);

    /**
     * Called now and then.
     *
     * @param what the kind of thing being counted
     * @param count how many have been examined so far
     */
    void reached(String what, long count);
  }
}
