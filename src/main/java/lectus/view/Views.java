package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import lectus.changes.log.GoneSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.derived.SortKey;
import lectus.document.DatabaseReads;
import lectus.document.DocumentId;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Tasks;
import lectus.metrics.Tasks.RunningTask;
import lectus.script.Scripts;
import lectus.script.Scripts.Pool;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;
import lectus.view.IndexStep.DatabaseReader;
import lectus.view.ViewDefinition.View;
import lectus.view.ViewQuery.Freshness;
import lectus.view.ViewRows.Refused;
import lectus.view.ViewsSubspace.Phase;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The views of all databases: answers queries, and brings indexes up to date for those who wait.
 * Thread-safe.
 */
public final class Views implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Views.class);

  /** After so many steps that did not come to the end, nodes are made anew at the end. */
  private static final int MAX_STEPS_BEHIND = 20;

  private static final int MAX_THREADS = 8;

  /** They wait for functions most of the time. */
  private static final int THREADS =
      Math.max(2, Math.min(MAX_THREADS, Runtime.getRuntime().availableProcessors()));

  /** Documents, places, rows, what is mapped, nodes, and the transaction. */
  private static final int PARTS_OF_STEP = 6;

  private static final long LEAST_BYTES_OF_STEP = 500_000;

  private static final long PAUSE_MILLIS = 50;

  /** While requests wait a build pauses so many times as long as its last step took. */
  private static final int PAUSES_FOR_STEP = 2;

  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(4);

  /** How long tasks are given back when the server stops. Claims of others lapse. */
  private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Purged documents that wait for one index. */
  static final int MAX_GONE = 20_000;

  static final String TOO_MANY_GONE =
      "More than " + MAX_GONE + " documents were purged since it was updated.";

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DocumentReader documents;
  private final DesignViews designs = new DesignViews();
  private final Scripts scripts;
  private final Tasks tasks;
  private final BooleanSupplier requestsWait;
  private final int bytesOfStep;
  private final ExecutorService updaters;
  private final Map<UpdateKey, Updating> underway = new HashMap<>();
  private boolean isClosed;

  /**
   * @param requestsWait whether clients wait for work of this server
   * @param memory bytes that steps may take together; one document alone may take more
   */
  public Views(
      Catalogue catalogue,
      TransactionRunner transactions,
      DocumentReader documents,
      Scripts scripts,
      Tasks tasks,
      BooleanSupplier requestsWait,
      long memory) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.documents = documents;
    this.scripts = scripts;
    this.tasks = tasks;
    this.requestsWait = requestsWait;
    this.bytesOfStep =
        (int)
            Math.max(
                LEAST_BYTES_OF_STEP,
                Math.min(IndexStep.MOST_BYTES, memory / THREADS / PARTS_OF_STEP));
    this.updaters = Executors.newFixedThreadPool(THREADS, DaemonThreads.named("lectus-views"));
  }

  private record UpdateKey(InstanceId instance, long number) {}

  /**
   * An index as one request found it.
   *
   * @param design name of one of the design documents that define it
   */
  record Opened(DatabaseHandle db, String design, ViewDefinition definition, Registered index) {
    ViewRows rows() {
      return new ViewRows(db, index.number(), definition.partitioned());
    }
  }

  /** Queries of one view, before their rows are read. */
  public record Prepared(
      DatabaseRequest asked,
      Opened opened,
      View view,
      List<ViewQuery> queries,
      boolean isCombined) {
    private boolean wants(Freshness freshness) {
      return queries.stream().anyMatch(it -> it.freshness() == freshness);
    }
  }

  /**
   * Parses queries, and finds the view.
   *
   * @param design name of the design document, without {@code _design/}
   * @param partition that the path names
   * @throws LectusException {@code not_found}, {@code query_parse_error} and others
   */
  public Prepared prepare(
      DatabaseRequest asked, String design, String name, ViewArguments arguments) {
    byte[] json = design(asked, design);
    DatabaseHandle db = transactions.read(tx -> asked.current(tx, catalogue));
    ViewDefinition definition =
        ViewDefinition.of(json, db.configuration().partitioned())
            .orElseThrow(() -> LectusException.notFound("missing_named_view"));
    View view =
        definition.view(name).orElseThrow(() -> LectusException.notFound("missing_named_view"));
    List<ViewQuery> queries = arguments.queries(view, definition.partitioned());
    definition.requireSpoken(view);
    return new Prepared(
        asked, open(db, design, definition), view, queries, arguments.areCombined());
  }

  private byte[] design(DatabaseRequest asked, String design) {
    JsonBuffer json = new JsonBuffer(1_024);
    documents.read(asked, DocumentId.DESIGN_PREFIX + design, DocumentQuery.DEFAULT, json);
    return json.toBytes();
  }

  private Opened open(DatabaseHandle db, String design, ViewDefinition definition) {
    Optional<Registered> found =
        transactions.read(
            tx -> {
              ViewsSubspace indexes = new ViewsSubspace(life(db).of(tx));
              return Awaiting.await(indexes.find(tx, definition.signature()))
                  .filter(it -> !indexes.isDropped(tx, it));
            });
    Registered index =
        found.orElseGet(
            () ->
                transactions.run(
                    tx -> new ViewsSubspace(life(db).forWrites(tx)).register(tx, definition)));
    return new Opened(db, design, definition, index);
  }

  private DatabaseReader life(DatabaseHandle db) {
    return new DatabaseReader() {
      @Override
      public DatabaseHandle of(ReadTransaction tx) {
        return checked(catalogue.current(tx, db.name()));
      }

      @Override
      public DatabaseHandle forWrites(Transaction tx) {
        return checked(catalogue.currentForUpkeep(tx, db.name()));
      }

      private DatabaseHandle checked(DatabaseHandle current) {
        if (!current.instance().equals(db.instance())) {
          throw LectusException.notFound("Database does not exist.");
        }
        return current;
      }
    };
  }

  /**
   * Ends once the view is as new as its queries want; fails with why it cannot be. Whoever gives up
   * completes it; the update goes on.
   */
  public CompletableFuture<Void> ready(Prepared prepared) {
    if (prepared.wants(Freshness.NEWEST)) {
      return updated(prepared.opened);
    }
    if (prepared.wants(Freshness.LATER)) {
      updated(prepared.opened)
          .whenComplete((done, failure) -> LOG.debug("A view was updated", failure));
    }
    return CompletableFuture.completedFuture(null);
  }

  private CompletableFuture<Void> updated(Opened opened) {
    Optional<Sequence> missing = transactions.read(tx -> missing(tx, opened));
    if (missing.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    Waiter waiter = new Waiter(missing.get(), new CompletableFuture<>());
    UpdateKey key = new UpdateKey(opened.db().instance(), opened.index().number());
    synchronized (underway) {
      if (isClosed) {
        return CompletableFuture.failedFuture(stops());
      }
      Updating updating = underway.get(key);
      if (updating == null) {
        updating = new Updating(key, opened);
        underway.put(key, updating);
        updaters.execute(updating);
      }
      updating.waiting.add(waiter);
      Updating joined = updating;
      waiter.done.whenComplete((done, failure) -> joined.left(waiter));
    }
    return waiter.done;
  }

  private static LectusException stops() {
    return LectusException.unavailable("The server stops.");
  }

  /** Returns up to where the index has to go; empty if it is the database as of the transaction. */
  private Optional<Sequence> missing(ReadTransaction tx, Opened opened) {
    DatabaseHandle db = life(opened.db()).of(tx);
    Optional<State> state = Awaiting.await(new ViewsSubspace(db).read(tx, opened.index().number()));
    Sequence now = IndexStep.readVersion(tx, db);
    boolean isCurrent =
        state.filter(State::isSettled).isPresent()
            && DueDocuments.Entries.read(tx, db, state.get().upTo(), now, 1).all().isEmpty();
    return isCurrent ? Optional.empty() : Optional.of(now);
  }

  /** Somebody who waits until an index is the database as of a sequence or later. */
  private record Waiter(Sequence since, CompletableFuture<Void> done) {
    boolean isServedBy(IndexStep.Done step) {
      return hasComeTo(since, step);
    }

    static boolean hasComeTo(Sequence since, IndexStep.Done step) {
      return step.isCurrent()
          || step.state()
              .filter(State::isSettled)
              .flatMap(State::upTo)
              .filter(upTo -> upTo.compareTo(since) >= 0)
              .isPresent();
    }
  }

  /** Brings one index up to date, step by step, as long as anybody waits. */
  private final class Updating implements Runnable {
    private final UpdateKey key;
    private final Opened opened;
    private final IndexStep step;

    /** Its own, and those of who helps. */
    private final List<IndexStep> steps = new ArrayList<>();

    private final Set<Waiter> waiting = new LinkedHashSet<>();

    /** Where those who gave up wanted it to go. */
    private Optional<Sequence> leftAt = Optional.empty();

    /** With whose tasks others were asked to help last. */
    private Phase shared = Phase.SETTLED;

    private Optional<RunningTask> shown = Optional.empty();
    private int stepsBehind;

    Updating(UpdateKey key, Opened opened) {
      this.key = key;
      this.opened = opened;
      this.step = step(opened, this);
      steps.add(step);
    }

    @Override
    public void run() {
      List<Waiter> here;
      synchronized (underway) {
        here = List.copyOf(waiting);
      }
      try {
        Pace pace = new Pace();
        IndexStep.Done done = step.run(stepsBehind < MAX_STEPS_BEHIND);
        boolean isBehind = !done.isCurrent() && done.state().filter(State::isSettled).isPresent();
        stepsBehind = isBehind ? stepsBehind + 1 : 0;
        if (done.state().isEmpty()) {
          throw LectusException.notFound("missing_named_view");
        }
        List<Waiter> served = here.stream().filter(it -> it.isServedBy(done)).toList();
        served.forEach(it -> it.done.complete(null));
        boolean isOver = isOver(served, done);
        if (isOver || done.isCurrent()) {
          hide();
        } else {
          share(done.state().get());
          show(done.state().get());
        }
        if (!isOver) {
          pace.goOn(this, done);
        }
      } catch (Throwable failure) {
        hide();
        end().forEach(it -> it.done.completeExceptionally(failure));
        if (failure instanceof Error error) {
          throw error;
        }
      }
    }

    /** An update that takes more than one step is shown, a build with how much it has to do. */
    private void show(State state) {
      if (shown.isEmpty()) {
        RunningTask task =
            tasks.begin(
                "indexer",
                opened.db().name().text(),
                Map.of("design_document", DocumentId.DESIGN_PREFIX + opened.design()));
        if (state.phase() == Phase.TASKS) {
          DatabaseReader db = life(opened.db());
          task.outOf(
              transactions.read(tx -> Awaiting.await(DatabaseCounters.entries(tx, db.of(tx)))));
        }
        shown = Optional.of(task);
      }
      long before = shown.get().done();
      long done = steps.stream().mapToLong(it -> it.documents.mapped()).sum();
      shown.get().advance(Math.max(0, done - before));
    }

    private void hide() {
      shown.ifPresent(RunningTask::close);
      shown = Optional.empty();
    }

    /** Others help with the tasks of a phase. */
    private void share(State state) {
      if (state.phase().hasTasks() && shared != state.phase()) {
        shared = state.phase();
        for (int i = 1; i < THREADS; i++) {
          Helping helper = new Helping(step(opened, this), shared);
          synchronized (underway) {
            steps.add(helper.step);
          }
          updaters.execute(helper);
        }
      }
    }

    /** Whether nobody waits any more. Those who came while the step ran may want a later state. */
    private boolean isOver(List<Waiter> served, IndexStep.Done done) {
      synchronized (underway) {
        served.forEach(waiting::remove);
        leftAt = leftAt.filter(it -> !Waiter.hasComeTo(it, done));
        boolean isOver = waiting.isEmpty() && leftAt.isEmpty();
        if (isOver) {
          underway.remove(key);
        }
        return isOver;
      }
    }

    /** Somebody was served, or has given up: then the update goes on without keeping who it was. */
    private void left(Waiter waiter) {
      synchronized (underway) {
        if (waiting.remove(waiter)
            && leftAt.filter(it -> it.compareTo(waiter.since) >= 0).isEmpty()) {
          leftAt = Optional.of(waiter.since);
        }
      }
    }

    private List<Waiter> end() {
      synchronized (underway) {
        underway.remove(key);
        return List.copyOf(waiting);
      }
    }
  }

  /** Performs tasks of a phase as long as there are any. */
  private final class Helping implements Runnable {
    private final IndexStep step;
    private final Phase phase;

    Helping(IndexStep step, Phase phase) {
      this.step = step;
      this.phase = phase;
    }

    @Override
    public void run() {
      try {
        Pace pace = new Pace();
        IndexStep.Done done = step.help(phase);
        if (done.state().filter(it -> it.phase() == phase).isPresent()) {
          pace.goOn(this, done);
        }
      } catch (RuntimeException failure) {
        // Those who wait are told by whom they wait for.
        LOG.debug("A helper has ended", failure);
      }
    }
  }

  /**
   * @param claiming which all steps of an update have in common
   */
  private IndexStep step(Opened opened, Object claiming) {
    return new IndexStep(
        transactions,
        life(opened.db()),
        opened.definition(),
        opened.index(),
        functions(opened, Pool.BACKGROUND),
        bytesOfStep,
        claiming);
  }

  /**
   * When the next step follows. Whoever finds nothing to do looks again a little later, and a build
   * leaves most of the time to requests that wait.
   */
  private final class Pace {
    private final long begun = System.nanoTime();
    private final boolean isBusy = requestsWait.getAsBoolean();

    void goOn(Runnable step, IndexStep.Done done) {
      boolean isBuild = done.state().filter(it -> it.phase().hasTasks()).isPresent();
      long pause = 0;
      if (done.isIdle()) {
        pause = TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
      } else if (isBuild && (isBusy || requestsWait.getAsBoolean())) {
        pause = Math.min(LONGEST_PAUSE_NANOS, PAUSES_FOR_STEP * (System.nanoTime() - begun));
      }
      if (pause > 0) {
        CompletableFuture.delayedExecutor(pause, TimeUnit.NANOSECONDS, updaters).execute(step);
      } else {
        updaters.execute(step);
      }
    }
  }

  private ViewFunctions functions(Opened opened, Pool pool) {
    String name = opened.db().name().text() + "/" + DocumentId.DESIGN_PREFIX + opened.design();
    return new ViewFunctions(
        scripts, pool, opened.db().instance().toString(), name, opened.definition());
  }

  /** Returns the whole answer, which is read part by part. */
  public PagedBody answer(Prepared prepared) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, prepared.asked);
    Opened opened = prepared.opened;
    Reducer reducer = functions(opened, Pool.INTERACTIVE).reducer(prepared.view);
    List<ViewAnswer> answers =
        prepared.queries.stream()
            .map(query -> new ViewAnswer(reads, opened, prepared.view, query, reducer))
            .toList();
    PagedBody pages =
        prepared.isCombined ? new PagedBody.Combined(answers) : PagedBody.alone(answers.get(0));
    boolean hasBytes = prepared.queries.stream().anyMatch(ViewQuery::hasBytes);
    return hasBytes ? new FilledBody(reads, pages) : pages;
  }

  /** Removes the indexes that no design document uses; returns how many. */
  public int cleanUp(DatabaseRequest asked) {
    return transactions.run(
        tx -> {
          asked.current(tx, catalogue);
          DatabaseHandle db = catalogue.currentForUpkeep(tx, asked.name());
          ViewsSubspace views = new ViewsSubspace(db);
          List<Registered> all = views.all(tx);
          Set<String> used = used(tx, db, all).keySet();
          List<Registered> unused =
              all.stream().filter(it -> !used.contains(it.signature())).toList();
          unused.forEach(it -> views.remove(tx, it));
          return unused.size();
        });
  }

  /**
   * An index that design documents use.
   *
   * @param design the name of one of them
   */
  record Used(String design, boolean isRegistered, boolean isDropped) {}

  /**
   * The indexes of a database.
   *
   * @param useless which no design document uses, or which keep too many purged documents waiting,
   *     while nobody updates them
   */
  record Overview(List<Used> used, Map<Registered, State> useless) {}

  /**
   * @throws LectusException {@code not_found}
   */
  Overview overview(DatabaseName name) {
    return transactions.read(
        tx -> {
          DatabaseHandle db = catalogue.current(tx, name);
          ViewsSubspace views = new ViewsSubspace(db);
          List<Registered> all = views.all(tx);
          Map<String, String> defined = used(tx, db, all);
          Map<String, Registered> registered = new HashMap<>();
          Map<Registered, State> useless = new HashMap<>();
          all.forEach(it -> registered.put(it.signature(), it));
          for (Registered index : registered.values()) {
            boolean isUsed = defined.containsKey(index.signature());
            Awaiting.await(views.read(tx, index.number()))
                .filter(state -> isUseless(tx, db, index, state, isUsed))
                .ifPresent(state -> useless.put(index, state));
          }
          List<Used> used = new ArrayList<>();
          defined.forEach(
              (signature, design) -> {
                Registered index = registered.get(signature);
                boolean isDropped = index != null && views.isDropped(tx, index);
                used.add(new Used(design, index != null, isDropped));
              });
          return new Overview(used, useless);
        });
  }

  private boolean isUseless(
      ReadTransaction tx, DatabaseHandle db, Registered index, State state, boolean isUsed) {
    if (isUsed
        && (state.isDropped() || !new GoneSubspace(db).hasMoreThan(tx, state.upTo(), MAX_GONE))) {
      return false;
    }
    synchronized (underway) {
      if (underway.containsKey(new UpdateKey(db.instance(), index.number()))) {
        return false;
      }
    }
    return !new BuildTasks(db, index.number()).arePerformed(tx);
  }

  /**
   * @throws lectus.json.MalformedTupleException if one of the rows cannot be adopted
   */
  public static void check(DatabaseHandle db, List<KeyValue> rows) {
    rows.forEach(new ViewsSubspace(db)::check);
  }

  /** Registers the indexes of a database that comes from elsewhere, with their numbers. */
  public static void adopt(Transaction tx, DatabaseHandle db, List<KeyValue> rows) {
    new ViewsSubspace(db).adopt(tx, rows);
  }

  /**
   * Removes an index that no design document uses, and drops one that keeps too many purged
   * documents waiting, unless somebody has updated it.
   */
  void remove(DatabaseName name, Registered index, State state) {
    Optional<String> why =
        transactions.run(
            tx -> {
              DatabaseHandle db = catalogue.currentForUpkeep(tx, name);
              ViewsSubspace views = new ViewsSubspace(db);
              boolean isUsed = used(tx, db, List.of(index)).containsKey(index.signature());
              boolean isStill =
                  Awaiting.await(views.find(tx, index.signature()))
                          .filter(index::equals)
                          .isPresent()
                      && Awaiting.await(views.read(tx, index.number())).equals(Optional.of(state));
              if (!isStill || !isUseless(tx, db, index, state, isUsed)) {
                return Optional.empty();
              }
              if (isUsed) {
                views.drop(tx, index);
                return Optional.of(TOO_MANY_GONE);
              }
              views.remove(tx, index);
              return Optional.of("No design document uses it.");
            });
    why.ifPresent(
        it -> LOG.info("The view index {} of {} is removed: {}", index.signature(), name, it));
  }

  /**
   * Brings the views of a design document up to date, although nobody waits for them.
   *
   * @param retries whether documents are mapped again that were refused but may pass
   * @return whether there are such documents
   * @throws LectusException {@code not_found} and others
   */
  CompletableFuture<Boolean> follow(DatabaseName name, String design, boolean retries) {
    DatabaseRequest asked = DatabaseRequest.byServer(name);
    byte[] json = design(asked, design);
    DatabaseHandle db = transactions.read(tx -> asked.current(tx, catalogue));
    return ViewDefinition.of(json, db.configuration().partitioned())
        .filter(ViewDefinition::isSpoken)
        .map(it -> open(db, design, it))
        .map(it -> updated(it).thenApplyAsync(done -> step(it, it).mapAgain(retries), updaters))
        .orElse(CompletableFuture.completedFuture(false));
  }

  /**
   * Returns what CouchDB tells of the views of a design document.
   *
   * @throws LectusException {@code not_found}
   */
  public JsonBuffer info(DatabaseRequest asked, String name) {
    byte[] json = design(asked, name);
    return transactions.read(
        tx -> {
          DatabaseHandle db = asked.current(tx, catalogue);
          Optional<ViewDefinition> definition =
              ViewDefinition.of(json, db.configuration().partitioned());
          return new ViewInfo(tx, db, name).json(definition, underway(db, definition));
        });
  }

  /** Returns how many wait for the update that is under way; empty if none is. */
  private OptionalInt underway(DatabaseHandle db, Optional<ViewDefinition> definition) {
    synchronized (underway) {
      return underway.entrySet().stream()
          .filter(it -> it.getKey().instance().equals(db.instance()))
          .map(Map.Entry::getValue)
          .filter(it -> definition.filter(it.step::isOf).isPresent())
          .mapToInt(it -> it.waiting.size())
          .findFirst();
    }
  }

  /**
   * Returns the signatures that design documents have, with the name of one of each: of all indexes
   * that there are, and of some that there may be.
   */
  private Map<String, String> used(ReadTransaction tx, DatabaseHandle db, List<Registered> all) {
    Set<String> registered = all.stream().map(Registered::signature).collect(Collectors.toSet());
    Map<String, String> used = new LinkedHashMap<>();
    designs.each(
        tx,
        db,
        (design, signature) -> {
          if (registered.contains(signature)
              || used.size() < registered.size() + ViewsSubspace.MAX_VIEWS) {
            used.putIfAbsent(signature, design.id().substring(DocumentId.DESIGN_PREFIX.length()));
          }
          return true;
        });
    return used;
  }

  /** Those who wait are told so, and tasks of builds are given back. */
  @Override
  public void close() {
    List<Waiter> waiting;
    List<IndexStep> steps;
    synchronized (underway) {
      isClosed = true;
      waiting = underway.values().stream().flatMap(it -> it.waiting.stream()).toList();
      steps = underway.values().stream().flatMap(it -> it.steps.stream()).toList();
      underway.clear();
    }
    updaters.shutdownNow();
    waiting.forEach(it -> it.done.completeExceptionally(stops()));
    long end = System.nanoTime() + STOP_NANOS;
    for (IndexStep step : steps) {
      if (System.nanoTime() - end < 0) {
        step.stop();
      }
    }
  }

  /** What CouchDB tells of the views of a design document. */
  record ViewInfo(ReadTransaction tx, DatabaseHandle db, String name) {
    /** Entries of changes that are counted. */
    private static final int MAX_PENDING = 10_000;

    /** Refused documents that are named. */
    private static final int MAX_REFUSED = 20;

    private static final String NO_SIGNATURE = "00000000000000000000000000000000";

    JsonBuffer json(Optional<ViewDefinition> definition, OptionalInt waiting) {
      Optional<Registered> index =
          definition.flatMap(it -> Awaiting.await(new ViewsSubspace(db).find(tx, it.signature())));
      Optional<State> state =
          index.flatMap(it -> Awaiting.await(new ViewsSubspace(db).read(tx, it.number())));
      Optional<Sequence> upTo = state.flatMap(State::upTo);
      long pending =
          definition.isEmpty()
              ? 0
              : DueDocuments.Entries.read(tx, db, upTo, IndexStep.readVersion(tx, db), MAX_PENDING)
                  .all()
                  .size();
      JsonBuffer out = new JsonBuffer(512).ascii("{\"name\":").string(name);
      out.ascii(",\"view_index\":{\"updates_pending\":{\"minimum\":").number(pending);
      out.ascii(",\"preferred\":").number(pending).ascii(",\"total\":").number(pending);
      out.ascii("},\"waiting_commit\":false,\"waiting_clients\":");
      out.number(waiting.orElse(0)).ascii(",\"updater_running\":");
      out.bool(waiting.isPresent()).ascii(",\"update_seq\":");
      out.string(upTo.map(Sequence::toString).orElse("0"));
      long bytes = index.map(this::bytes).orElse(0L);
      out.ascii(",\"sizes\":{\"file\":").number(bytes).ascii(",\"external\":").number(bytes);
      out.ascii(",\"active\":").number(bytes).ascii("},\"signature\":");
      out.string(definition.map(ViewDefinition::signature).orElse(NO_SIGNATURE));
      out.ascii(",\"purge_seq\":0,\"language\":");
      out.string(definition.map(ViewDefinition::language).orElse("javascript"));
      out.ascii(",\"compact_running\":false,\"collator_versions\":[");
      out.string(SortKey.collatorVersion()).octet(']');
      index.ifPresent(it -> appendRefused(it, out));
      if (state.filter(State::isDropped).isPresent()) {
        out.ascii(",\"dropped\":").string(Views.TOO_MANY_GONE);
      }
      return out.ascii("}}");
    }

    private long bytes(Registered index) {
      Range range = new ViewRows(db, index.number(), false).range();
      return Awaiting.await(tx.getEstimatedRangeSizeBytes(range.begin, range.end));
    }

    private void appendRefused(Registered index, JsonBuffer out) {
      List<Refused> refused = new ViewRows(db, index.number(), false).refused(tx, MAX_REFUSED);
      if (refused.isEmpty()) {
        return;
      }
      out.ascii(",\"refused\":");
      char separator = '[';
      for (Refused each : refused) {
        out.octet(separator).ascii("{\"id\":").string(each.docId());
        out.ascii(",\"reason\":").string(each.why().reason()).octet('}');
        separator = ',';
      }
      out.octet(']');
    }
  }
}
