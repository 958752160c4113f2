package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import lectus.account.Accounts;
import lectus.account.AdminsSubspace;
import lectus.account.UserDocumentRule;
import lectus.account.UserDocumentRule.UserRights;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.StoreSweep;
import lectus.changes.log.UpdatesCompaction;
import lectus.changes.log.UpdatesLog;
import lectus.changes.notify.ManyDatabases;
import lectus.changes.notify.StoreUpdates;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.AccountsTail;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.ChangesShards;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DeletedDatabases;
import lectus.changes.page.FeedRights;
import lectus.changes.page.SessionNotifications;
import lectus.changes.page.TailLookup;
import lectus.database.Catalogue;
import lectus.database.DatabaseCache;
import lectus.database.DatabaseRequest;
import lectus.database.LiveSettings;
import lectus.database.StoredSettings;
import lectus.database.UserContext;
import lectus.derived.rows.FeedCatalogue;
import lectus.derived.rows.FillingJobs;
import lectus.derived.rows.JobList;
import lectus.derived.rows.JobWorker;
import lectus.document.edit.DocumentParser;
import lectus.document.read.AllDocs;
import lectus.document.read.BulkGet;
import lectus.document.read.DesignPrograms;
import lectus.document.read.DocumentCache;
import lectus.document.read.DocumentReader;
import lectus.document.read.LocalDocuments;
import lectus.document.read.RevisionsDiff;
import lectus.document.write.DocumentWriter;
import lectus.document.write.Maintenance;
import lectus.document.write.ScriptJudge;
import lectus.document.write.SweepMetrics;
import lectus.document.write.TombstoneSweep;
import lectus.document.write.WriteRules;
import lectus.document.write.WriteRules.EditRule;
import lectus.document.write.Writes;
import lectus.error.LectusException;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Membership;
import lectus.http.ServedSettings;
import lectus.http.ServedSettings.ChangeableSettings;
import lectus.http.Tokens;
import lectus.http.UserUsage;
import lectus.http.api.CouchFamilies;
import lectus.http.client.HttpCaller;
import lectus.http.exchange.DeliveryMetrics;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.DesignFunctions.DesignFunction;
import lectus.http.exchange.HttpMetrics;
import lectus.http.exchange.RequestMetrics;
import lectus.http.exchange.RequestObject;
import lectus.http.exchange.Services;
import lectus.http.exchange.Tracing;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.RequestThreads;
import lectus.image.Images;
import lectus.json.JsonValue.JsonString;
import lectus.mango.query.Queries;
import lectus.mango.query.QueryMetrics;
import lectus.metrics.LogCounts;
import lectus.metrics.Metrics;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.relocation.Arrivals;
import lectus.relocation.Relocations;
import lectus.relocation.Relocations.RelocationParts;
import lectus.replication.LocalDatabase.LocalParts;
import lectus.replication.ReplicationRequest;
import lectus.replication.ReplicationRequest.Choice;
import lectus.replication.Replications;
import lectus.replication.Replicator;
import lectus.replication.Replicator.ReplicatorSettings;
import lectus.replication.jobs.ReplicationJobs;
import lectus.replication.jobs.ReplicationJobs.JobParts;
import lectus.script.Scripts;
import lectus.server.Layer.StepsVerticle.Pace;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.StoreFailures;
import lectus.store.StoreHeartbeat;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.view.ViewFollower;
import lectus.view.Views;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts below HTTP, assembled once for each server. */
public final class Layer {
  /** Maximum number of rows read at once of each bucket of the updates log. */
  public static final int UPDATES_PER_BUCKET = 32;

  /** Of the memory for hot documents, one part in this many is for design documents' functions. */
  private static final int PART_OF_PROGRAMS = 8;

  /** {@link JobList} says whether this is a look at the store. */
  private static final Pace INDEXING = new Pace(250, 5_000);

  /** {@link ViewFollower} says whether this is a look at the store. */
  private static final Pace FOLLOWING = new Pace(200, 5_000);

  private static final Pace COMPACTING = Pace.every(2_000);

  /** {@link ReplicationJobs} says whether this is a look at the store. */
  private static final Pace REPLICATING = new Pace(50, 1_000);

  /** A look costs one read. */
  private static final Pace RELOCATING = Pace.every(1_000);

  /** A look costs one read; a round is due five minutes after the last. */
  private static final Pace SWEEPING = new Pace(2_000, 300_000);

  private final Store store;
  private final NodeSettings settings;
  private final BooleanSupplier requestsWait;
  private final TransactionRunner transactions;
  private final LiveSettings<ServedSettings> live;
  private final DatabaseCache caches;
  private final Catalogue catalogue;
  private final ChangesReader changes;
  private final UpdatesLog updates;
  private final StoreHeartbeat pulse;
  private final FeedRights rights;
  private final DocumentParser parser;
  private final DocumentReader documents;
  private final Accounts accounts;
  private final Tokens tokens;
  private final UserUsage usage = new UserUsage(System::nanoTime);
  private final QueryMetrics queries = new QueryMetrics();
  private final SweepMetrics tombstones = new SweepMetrics();
  private final ContentStore contents;
  private final JobList jobs;
  private final ClientMemory memory;
  private final Scripts scripts;
  private final Views views;
  private final DesignPrograms programs;

  /**
   * @param requestsWait whether clients wait for work of this server
   */
  public Layer(Store store, NodeSettings settings, BooleanSupplier requestsWait) {
    this.store = store;
    this.settings = settings;
    this.requestsWait = requestsWait;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.live = new LiveSettings<>(new StoredSettings(store, transactions), settings.plan()::with);
    this.caches = new DatabaseCache(store.rootPrefix(), settings.memory().glimpses());
    this.catalogue =
        new Catalogue(
            store, transactions, InstantSource.system(), caches, () -> live.current().databases());
    this.jobs = new JobList(store, catalogue::definitions);
    this.tokens = new Tokens(() -> live.current().http().access().tokens(), InstantSource.system());
    this.rights = new FeedRights(settings.http().access().unset());
    this.changes = new ChangesReader(catalogue, transactions, rights);
    this.updates = new UpdatesLog(store);
    this.pulse = new StoreHeartbeat(store);
    this.contents = new ContentStore(catalogue, transactions);
    this.scripts = new Scripts(settings.scripts());
    this.memory = settings.memory().accounts(settings.http().compression().maxStreams());
    this.parser = new DocumentParser(() -> live.current().documents());
    long hot = settings.memory().hotDocuments();
    this.programs = new DesignPrograms(transactions, hot / PART_OF_PROGRAMS);
    this.documents =
        new DocumentReader(
            catalogue, transactions, new DocumentCache(hot - hot / PART_OF_PROGRAMS));
    this.accounts =
        new Accounts(
            store, catalogue, documents, parser, writer(), () -> live.current().accounts());
    this.views =
        new Views(
            catalogue,
            transactions,
            documents,
            scripts,
            store.tasks(),
            requestsWait,
            settings.memory().views());
    live.onChange(this::follow);
  }

  private void follow(ServedSettings former, ServedSettings now) {
    if (now.accounts().perUserDatabases() && !former.accounts().perUserDatabases()) {
      accounts.makeUserDatabases();
    }
  }

  /** What of the settings may change, which has to be started. */
  LiveSettings<ServedSettings> settings() {
    return live;
  }

  AccountsTail accountsTail() {
    return new AccountsTail(catalogue, transactions, new AdminsSubspace(store.rootPrefix()));
  }

  public Catalogue catalogue() {
    return catalogue;
  }

  public TailLookup tails() {
    return new TailLookup(catalogue, transactions);
  }

  /** Returns when the newest row of the updates log was written; empty if there is none. */
  public Optional<Versionstamp> newestUpdate() {
    return transactions.read(updates::newest);
  }

  public UpdatesLog.Chunk updatesFrom(Versionstamp point) {
    return transactions.read(tx -> updates.read(tx, point, UPDATES_PER_BUCKET));
  }

  StoreHeartbeat pulse() {
    return pulse;
  }

  UpdatesCompaction compaction() {
    return new UpdatesCompaction(store, transactions);
  }

  /** Returns what is done beside requests, under the names of its threads. */
  Map<String, StepsVerticle> background() {
    LeasedSteps sweep = new StoreSweep(store, catalogue);
    return Map.of(
        "lectus-compaction",
        updatesCompaction(compaction()),
        "lectus-attachments",
        new StepsVerticle(
            "sweep of attachments",
            new ShownSteps(sweep, store.tasks(), "attachments_sweep"),
            SWEEPING),
        "lectus-views-follow",
        new StepsVerticle(
            "following of views",
            new ViewFollower(store, transactions, views, settings.followed()),
            FOLLOWING),
        "lectus-auto-purge",
        autoPurge(),
        "lectus-deleted",
        new StepsVerticle(
            "removal of deleted databases",
            new ShownSteps(
                deleted().sweep(store, () -> live.current().databases().keptSeconds()),
                store.tasks(),
                "deleted_databases"),
            SWEEPING));
  }

  private DeletedDatabases deleted() {
    return new DeletedDatabases(store, catalogue, transactions);
  }

  private StepsVerticle autoPurge() {
    return new StepsVerticle(
        "purge of old tombstones",
        new ShownSteps(
            new TombstoneSweep(store, catalogue, writer(), tombstones),
            store.tasks(),
            "auto_purge"),
        SWEEPING);
  }

  StepsVerticle indexing() {
    return new StepsVerticle(
        "building of indexes",
        new JobWorker(store, catalogue, Maintenance::rows, requestsWait, jobs),
        INDEXING);
  }

  StepsVerticle updatesCompaction(UpdatesCompaction compaction) {
    return new StepsVerticle(
        "compaction of the updates log",
        new ShownSteps(compaction, store.tasks(), "updates_log_compaction"),
        COMPACTING);
  }

  private Queries queries() {
    FillingJobs jobs = new FillingJobs(store.rootPrefix());
    return new Queries(catalogue, transactions, jobs, queries);
  }

  public DocumentWriter writer() {
    EditRule rule =
        new UserDocumentRule(
            settings.accounts(),
            described -> ReplicationRequest.problem(described, settings.replicator().defaults()));
    return new DocumentWriter(
        store,
        catalogue,
        new WriteRules(settings.ignoresValidation(), rule, new ScriptJudge(programs, scripts)));
  }

  Scripts scripts() {
    return scripts;
  }

  Views views() {
    return views;
  }

  Accounts accounts() {
    return accounts;
  }

  Services services(
      Writes writes,
      DatabaseNotifications events,
      SessionNotifications admissions,
      Membership membership,
      OtherMembers others,
      RequestThreads readers,
      Metrics metrics,
      Optional<Tracing> tracing,
      HttpCaller caller,
      Runnable restart) {
    DatabaseInfo info = new DatabaseInfo(catalogue, transactions);
    Services.Documents ofDocuments =
        new Services.Documents(
            parser,
            documents,
            new AllDocs(catalogue, transactions),
            new LocalDocuments(catalogue, transactions),
            new BulkGet(catalogue, transactions),
            new RevisionsDiff(catalogue, transactions),
            intake(),
            writes);
    DesignFunctions functions = new DesignFunctions(scripts, catalogue, info, documents, memory);
    Replications replications = replications(caller, ofDocuments, info, functions, events);
    ReplicationJobs jobs = jobs(replications, writes, events, metrics);
    Relocations relocations =
        new Relocations(
            new RelocationParts(
                store, catalogue, caller, events, () -> live.current().relocationBytesPerSecond()));
    metrics.add(relocations);
    return new Services(
        new Services.Databases(
            catalogue,
            info,
            deleted(),
            new FeedCatalogue(catalogue, transactions, new FillingJobs(store.rootPrefix())),
            new Images(store, catalogue, requestsWait),
            relocations,
            new Arrivals(store, catalogue),
            events),
        ofDocuments,
        queries(),
        views,
        functions,
        new Services.Changes(
            changes,
            new ChangesShards(catalogue, transactions, store.tasks()),
            new ManyDatabases(
                store, catalogue, transactions, rights, settings.memory().candidates()),
            new StoreUpdates(store, transactions),
            tails(readers, metrics),
            admissions),
        new Services.Users(accounts, tokens, usage),
        replications,
        jobs,
        new Services.Server(
            store.id(),
            new ChangeableSettings(live, settings.plan()),
            pulse,
            membership,
            others,
            caller,
            metrics,
            store.tasks(),
            restart,
            store::checkpoint),
        new Services.PerRequest(memory, readers, shown(figures(events, jobs), metrics), tracing));
  }

  private Replications replications(
      HttpCaller caller,
      Services.Documents of,
      DatabaseInfo info,
      DesignFunctions functions,
      DatabaseNotifications events) {
    ReplicatorSettings how = settings.replicator();
    ExecutorService threads = Replicator.threads(how.memory());
    LocalParts local =
        new LocalParts(
            catalogue,
            info,
            changes,
            events,
            parser,
            documents,
            of.local(),
            of.bulkGet(),
            of.revisionsDiff(),
            of.attachments(),
            of.writes(),
            new UserRights(settings.http().access().unset()),
            (asked, user, filter, opening) ->
                functions.open(asked, function(filter), request(asked, user, filter), opening));
    return new Replications(
        new Replicator(caller, Optional.of(local), how.uuid().orElse(store.id()), threads, how),
        store.tasks());
  }

  private static DesignFunction function(Choice.OfFilter filter) {
    Optional<String> view = filter.parameters().get("view").map(it -> ((JsonString) it).value());
    return DesignFunction.ofFeed(Optional.of(filter.name()), view)
        .orElseThrow(() -> LectusException.badRequest("unknown builtin filter name"));
  }

  /** A function that filters sees the request that CouchDB's replicator would send. */
  private static RequestObject request(
      DatabaseRequest asked, UserContext user, Choice.OfFilter filter) {
    return RequestObject.of(
        List.of(asked.name().text(), "_changes"), filter.parameters().members(), user);
  }

  private ReplicationJobs jobs(
      Replications asked, Writes writes, DatabaseNotifications events, Metrics metrics) {
    ReplicationJobs all =
        new ReplicationJobs(
            store,
            new JobParts(catalogue, transactions, documents, parser, writes, accounts, events),
            asked,
            () -> live.current().jobs(),
            settings.memory().mostJobs());
    metrics.add(all);
    return all;
  }

  static StepsVerticle relocating(Relocations relocations) {
    return new StepsVerticle("relocations of databases", relocations, RELOCATING);
  }

  static StepsVerticle replicating(ReplicationJobs jobs) {
    return new StepsVerticle("replications of documents", jobs, REPLICATING);
  }

  private AttachmentIntake intake() {
    return new AttachmentIntake(contents, () -> live.current().documents().attachments());
  }

  private static TailRegistry tails(RequestThreads readers, Metrics metrics) {
    TailRegistry tails = new TailRegistry(readers.ofTails());
    metrics.add(tails);
    return tails;
  }

  private HttpMetrics shown(HttpMetrics figures, Metrics metrics) {
    Stream.of(
            store,
            caches,
            scripts,
            documents,
            programs,
            accounts,
            tokens,
            usage,
            memory,
            tombstones,
            figures)
        .forEach(metrics::add);
    metrics.addWritten(format -> CouchFamilies.text(figures, format));
    return figures;
  }

  private HttpMetrics figures(DatabaseNotifications events, ReplicationJobs replications) {
    return new HttpMetrics(
        new RequestMetrics(),
        new DeliveryMetrics(events::ageNanos),
        documents::reads,
        store.transactionFigures()::commits,
        caches::openDatabases,
        queries,
        accounts.lookUps(),
        replications::figures,
        LogCounts.ofProcess());
  }

  /** Shows what takes more than one step as a running task, which counts its steps. */
  private static final class ShownSteps implements LeasedSteps {
    private final LeasedSteps steps;
    private final Tasks tasks;
    private final String type;
    private Optional<RunningTask> round = Optional.empty();

    ShownSteps(LeasedSteps steps, Tasks tasks, String type) {
      this.steps = steps;
      this.tasks = tasks;
      this.type = type;
    }

    @Override
    public boolean step() {
      boolean goesOn = false;
      try {
        goesOn = steps.step();
        return goesOn;
      } finally {
        show(goesOn);
      }
    }

    private void show(boolean goesOn) {
      if (goesOn && round.isEmpty()) {
        round = Optional.of(tasks.begin(type));
      }
      round.ifPresent(task -> task.advance(1));
      if (!goesOn) {
        end();
      }
    }

    private void end() {
      round.ifPresent(RunningTask::close);
      round = Optional.empty();
    }

    @Override
    public void giveBack() {
      end();
      steps.giveBack();
    }
  }

  /**
   * Works in the background on a thread of its own: step after step while there is something to do,
   * else it looks now and then. It gives its leases back when it stops.
   */
  static final class StepsVerticle extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(StepsVerticle.class);

    /** The shortest pause that timers have; it lets other work of this thread run in between. */
    private static final long NO_PAUSE_MILLIS = 1;

    private final String name;
    private final LeasedSteps steps;
    private final Pace pace;
    private boolean stopped;

    /**
     * How often it looks whether there is something to do.
     *
     * @param pauseMillis when there was nothing
     * @param afterFailureMillis when a step failed
     */
    record Pace(long pauseMillis, long afterFailureMillis) {
      static Pace every(long millis) {
        return new Pace(millis, millis);
      }
    }

    /**
     * @param name what is done, for the log
     */
    StepsVerticle(String name, LeasedSteps steps, Pace pace) {
      this.name = name;
      this.steps = steps;
      this.pace = pace;
    }

    @Override
    public Future<?> start() {
      schedule(pace.pauseMillis());
      return Future.succeededFuture();
    }

    /** Runs on the thread of the steps: no step is running, and none may take a lease again. */
    @Override
    public Future<?> stop() {
      stopped = true;
      try {
        steps.giveBack();
      } catch (Throwable e) {
        LOG.info("Leases were not given back, and expire ({}): {}", name, e.toString());
      }
      return Future.succeededFuture();
    }

    private void schedule(long pauseMillis) {
      vertx.setTimer(pauseMillis, timer -> schedule(step()));
    }

    /** Takes one step; returns the pause before the next. */
    private long step() {
      try {
        return !stopped && steps.step() ? NO_PAUSE_MILLIS : pace.pauseMillis();
      } catch (FDBException e) {
        // Writers get the errors of a store in trouble, and the store has logged them itself.
        if (StoreFailures.foreseen(e).isEmpty()) {
          LOG.warn("A step failed ({})", name, e);
        }
      } catch (Throwable e) {
        if (!StoreFailures.isSilence(e)) {
          LOG.warn("A step failed ({})", name, e);
        }
      }
      return pace.afterFailureMillis();
    }
  }
}
