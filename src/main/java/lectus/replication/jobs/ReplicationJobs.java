package lectus.replication.jobs;

import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import lectus.account.Accounts;
import lectus.account.ReplicatorDocuments;
import lectus.changes.log.UpdatesLog;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.UserContext;
import lectus.document.edit.DocumentParser;
import lectus.document.read.DocumentReader;
import lectus.document.write.Writes;
import lectus.error.LectusException;
import lectus.http.ServedSettings.JobSettings;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.metrics.Tasks;
import lectus.replication.Replication;
import lectus.replication.Replication.Outcome;
import lectus.replication.ReplicationFailure;
import lectus.replication.ReplicationId;
import lectus.replication.ReplicationRequest;
import lectus.replication.ReplicationRequest.Choice;
import lectus.replication.ReplicationRequest.End;
import lectus.replication.Replications;
import lectus.replication.Replicator;
import lectus.replication.jobs.JobDocuments.Changes;
import lectus.replication.jobs.JobDocuments.Note;
import lectus.replication.jobs.JobDocuments.Position;
import lectus.replication.jobs.JobScheduler.Ended;
import lectus.replication.jobs.JobScheduler.How;
import lectus.replication.jobs.ReplicationJob.Description;
import lectus.replication.jobs.ReplicationJob.JobKey;
import lectus.replication.jobs.ReplicationJob.Phase;
import lectus.store.Buckets;
import lectus.store.Fence;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replications that documents describe. Each server follows all databases of such documents,
 * through the updates log, and runs those whose bucket it has. What a run stores in this store it
 * stores under the bucket's fence, so a replication has one server at a time. Used by one thread,
 * but for what is shown.
 */
public final class ReplicationJobs implements LeasedSteps, Measured {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicationJobs.class);

  private static final long LOOK_NANOS = 1_000_000_000L;

  /** How long an event may be lost while it listens. */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  private static final int ROWS_PER_BUCKET = 32;

  /** Steps are short, so that the thread shows in time that its server is alive. */
  private static final int LOADS_PER_STEP = 100;

  private static final int NOTES_AT_ONCE = 64;

  /** Documents that were passed by are read again once one part in this many is free. */
  private static final int ROOM_PART = 10;

  private final JobDocuments documents;
  private final TransactionRunner transactions;
  private final int most;
  private final Tasks tasks;
  private final UpdatesLog log;
  private final Buckets buckets;
  private final Replications asked;
  private final Replicator replicator;
  private final Supplier<JobSettings> settings;
  private final InstantSource clock = InstantSource.system();
  private final JobScheduler scheduler;
  private final DatabaseNotifications notifications;

  /** Empty while there is no database of such documents. */
  private Optional<Registration> events = Optional.empty();

  private final Map<DatabaseName, Position> positions = new HashMap<>();
  private final Set<DatabaseName> changed = new LinkedHashSet<>();

  /** All documents of replications that are not over, each with its bucket. */
  private final Map<JobKey, Known> known = new HashMap<>();

  /** Those of buckets that were just taken. */
  private final Deque<JobKey> toLoad = new ArrayDeque<>();

  private final Map<JobKey, Note> notes = new LinkedHashMap<>();
  private final Set<JobKey> beingNoted = new HashSet<>();
  private final Queue<Note> toNote = new ConcurrentLinkedQueue<>();
  private final Queue<Noted> noted = new ConcurrentLinkedQueue<>();
  private Map<Integer, Fence> held = Map.of();
  private Versionstamp next = Versionstamp.ZERO;
  private volatile boolean isMoved = true;
  private volatile boolean isStopping;
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private long readNanos;
  private long lookedNanos;

  /** Until then nothing is noted, since a note could not be written. */
  private long noteNanos = System.nanoTime();

  /** Databases with documents for which there was no room. */
  private final Set<DatabaseName> skipped = new HashSet<>();

  /**
   * @param digest empty: it is no replication
   */
  private record Known(int bucket, String digest) {}

  private record Noted(Note note, boolean isDone) {}

  /** What it reads and writes documents with. */
  public record JobParts(
      Catalogue catalogue,
      TransactionRunner transactions,
      DocumentReader reader,
      DocumentParser parser,
      Writes writes,
      Accounts accounts,
      DatabaseNotifications events) {}

  /**
   * @param asked what clients have asked for beside
   * @param settings may change at any time
   * @param most how many documents there is memory for
   */
  public ReplicationJobs(
      Store store, JobParts parts, Replications asked, Supplier<JobSettings> settings, int most) {
    this.most = most;
    this.documents = new JobDocuments(parts);
    this.transactions = parts.transactions();
    this.asked = asked;
    this.replicator = asked.replicator();
    this.settings = settings;
    this.tasks = store.tasks();
    this.log = new UpdatesLog(store);
    this.buckets = new Buckets(store);
    this.lookedNanos = System.nanoTime() - LOOK_NANOS;
    this.readNanos = lookedNanos;
    this.scheduler = new JobScheduler(settings, this::begin, this::note, clock);
    this.notifications = parts.events();
    asked.besides(this::find);
  }

  private Optional<CompletableFuture<Outcome>> find(String id, UserContext user) {
    Optional<ReplicationJob> job =
        scheduler.job(id).filter(it -> it.description().continuous() || it.run().isPresent());
    if (job.isPresent()
        && !user.isServerAdmin()
        && !job.get().description().user().equals(user.name())) {
      throw LectusException.forbidden("You are not a server admin.");
    }
    return job.map(it -> it.run().map(Replication::outcome).orElseGet(CompletableFuture::new));
  }

  private boolean isWanted(DatabaseName name) {
    return ReplicatorDocuments.areIn(name) || scheduler.isSource(name);
  }

  /** Returns what is counted, and how many jobs there are, under CouchDB's names. Thread-safe. */
  public Map<String, Long> figures() {
    return scheduler.figures();
  }

  @Override
  public void describe(Meters meters) {
    scheduler.describe(meters);
  }

  @Override
  public boolean step() {
    if (isStopping) {
      end();
      return false;
    }
    boolean isBehind = follow();
    look();
    load();
    scheduler.step();
    write();
    return isBehind || !toLoad.isEmpty();
  }

  /**
   * Listens only while there is a database of such documents: the other servers send each event of
   * the store to a server that listens.
   */
  private void listen() {
    if (positions.isEmpty()) {
      events.ifPresent(Registration::close);
      events = Optional.empty();
    } else if (events.isEmpty()) {
      WantedDatabases wanted = new WantedDatabases(Set.of(), Set.of(""), this::isWanted);
      events = Optional.of(notifications.listenToAll(wanted, level -> isMoved = true));
      // Events before this one were not heard.
      isMoved = true;
    }
  }

  /** Reads what happened, and which documents changed; returns whether there is more. */
  private boolean follow() {
    listen();
    long now = System.nanoTime();
    if (isMoved || now - readNanos >= (events.isEmpty() ? LOOK_NANOS : PATIENCE_NANOS)) {
      isMoved = false;
      readNanos = now;
      UpdatesLog.Chunk chunk = transactions.read(tx -> log.read(tx, next, ROWS_PER_BUCKET));
      chunk.rows().forEach(this::happened);
      if (!chunk.rows().isEmpty()) {
        next = chunk.rows().get(chunk.rows().size() - 1).at().successor();
      }
      isMoved |= chunk.next().isPresent();
    }
    if (!skipped.isEmpty() && known.size() < most - most / ROOM_PART) {
      readSkipped();
    }
    Iterator<DatabaseName> first = changed.iterator();
    if (first.hasNext()) {
      DatabaseName database = first.next();
      first.remove();
      boolean hasMore = true;
      try {
        hasMore = read(database);
      } finally {
        // One that cannot be read does not keep the others waiting.
        if (hasMore) {
          changed.add(database);
        }
      }
    }
    return isMoved || !changed.isEmpty();
  }

  /** There is room again for documents that were passed by. */
  private void readSkipped() {
    for (DatabaseName database : skipped) {
      positions.computeIfPresent(database, (same, it) -> new Position(it.life(), Optional.empty()));
    }
    changed.addAll(skipped);
    skipped.clear();
  }

  private void happened(DatabaseUpdate update) {
    if (ReplicatorDocuments.areIn(update.name())) {
      changed.add(update.name());
    }
    scheduler.moved(update.name());
  }

  /** Reads some changed documents of a database; returns whether there are more. */
  private boolean read(DatabaseName database) {
    Changes changes = documents.changes(database, Optional.ofNullable(positions.get(database)));
    if (changes.isOther()) {
      List<JobKey> former =
          known.keySet().stream().filter(key -> key.database().equals(database)).toList();
      former.forEach(this::forget);
    }
    changes.documents().forEach((id, document) -> changed(new JobKey(database, id), document));
    changes
        .next()
        .ifPresentOrElse(it -> positions.put(database, it), () -> positions.remove(database));
    return changes.hasMore();
  }

  private void forget(JobKey key) {
    known.remove(key);
    notes.remove(key);
    scheduler.remove(key);
  }

  private void changed(JobKey key, Optional<JobDocument> document) {
    if (document.isEmpty() || document.get().isOver()) {
      forget(key);
      return;
    }
    String digest = document.get().digest();
    Known before = known.get(key);
    if (before == null && known.size() >= most) {
      if (skipped.add(key.database())) {
        LOG.warn("There are more replications than this server has memory for: {}", most);
      }
    } else if (before == null || !before.digest().equals(digest)) {
      forget(key);
      describe(key, digest, document.get());
    }
  }

  /** Notes what a document describes, and runs it if it is this server's. */
  private void describe(JobKey key, String digest, JobDocument document) {
    Description description;
    try {
      description = description(digest, document);
    } catch (RuntimeException faulty) {
      // Whatever it is, it is one document's fault, and the others go on.
      int bucket = Buckets.of(key.database().text() + '/' + key.document());
      known.put(key, new Known(bucket, digest));
      Fence fence = held.get(bucket);
      if (fence != null) {
        note(
            Note.failed(
                key, digest, fence, ReplicationFailure.of(faulty).reason(), clock.instant()));
      }
      return;
    }
    known.put(key, new Known(description.bucket(), digest));
    Fence fence = held.get(description.bucket());
    if (fence != null) {
      scheduler.add(new ReplicationJob(key, description, fence, clock.instant()));
    }
  }

  /**
   * @throws LectusException it is no replication
   */
  private Description description(String digest, JobDocument document) {
    ReplicationRequest request =
        ReplicationRequest.parse(document.members(), replicator.defaults());
    ReplicationId id = replicator.id(request);
    boolean isKnown =
        !(request.choice() instanceof Choice.OfFilter some) || some.function().isEmpty();
    return new Description(
        digest,
        Buckets.of(id.base()),
        isKnown ? Optional.of(id.toString()) : Optional.empty(),
        id.extension(),
        request.source().shown(),
        request.target().shown(),
        request.source() instanceof End.Local local ? Optional.of(local.name()) : Optional.empty(),
        request.options().continuous(),
        request.options().checkpointMillis(),
        document.userName());
  }

  /** Takes part in sharing out the buckets, while there is anything to replicate. */
  private void look() {
    long now = System.nanoTime();
    if (now - lookedNanos < LOOK_NANOS || (known.isEmpty() && held.isEmpty())) {
      return;
    }
    lookedNanos = now;
    if (known.isEmpty()) {
      buckets.giveBack();
      held = Map.of();
      return;
    }
    Map<Integer, Fence> before = held;
    held = buckets.look();
    Set<Integer> taken = new HashSet<>();
    for (int bucket = 0; bucket < Buckets.COUNT; bucket++) {
      Fence former = before.get(bucket);
      Fence fence = held.get(bucket);
      if (fence != null && !fence.equals(former)) {
        taken.add(bucket);
      } else if (fence == null && former != null) {
        lose(bucket);
      }
    }
    if (!taken.isEmpty()) {
      taken.forEach(this::lose);
      known.forEach(
          (key, it) -> {
            if (taken.contains(it.bucket())) {
              toLoad.add(key);
            }
          });
    }
  }

  private void lose(int bucket) {
    for (ReplicationJob job : List.copyOf(scheduler.jobs())) {
      if (job.description().bucket() == bucket) {
        scheduler.remove(job.key());
      }
    }
    notes
        .values()
        .removeIf(
            note -> {
              Known about = known.get(note.key());
              return about == null || about.bucket() == bucket;
            });
    toLoad.removeIf(key -> known.containsKey(key) && known.get(key).bucket() == bucket);
  }

  /** Reads documents of buckets that were taken. */
  private void load() {
    for (int i = 0; i < LOADS_PER_STEP && !toLoad.isEmpty(); i++) {
      // If it cannot be read now, it is the first of the next step.
      JobKey key = toLoad.element();
      if (known.containsKey(key) && scheduler.job(key).isEmpty()) {
        Optional<JobDocument> document = documents.read(key);
        known.remove(key);
        changed(key, document);
      }
      toLoad.remove();
    }
  }

  /** Begins the run of a job, on a thread that may wait. */
  private void begin(ReplicationJob job, Consumer<Ended> end) {
    try {
      replicator.executor(job.description().user()).execute(() -> beginNow(job, end));
    } catch (RuntimeException | Error refused) {
      end.accept(new Ended(job, How.FAILED, "The server is stopping."));
    }
  }

  private void beginNow(ReplicationJob job, Consumer<Ended> end) {
    Optional<Replication> made = Optional.empty();
    Optional<Ended> over = Optional.empty();
    try {
      Optional<JobDocument> document = documents.read(job.key());
      if (document.isEmpty()) {
        over = Optional.of(new Ended(job, How.UNWANTED, ""));
      } else {
        made = Optional.of(prepared(job, document.get()));
        over = refusal(job, made.get());
      }
    } catch (Throwable failure) {
      over =
          Optional.of(
              new Ended(job, job.id().isEmpty() ? How.NOT_MADE : How.FAILED, reason(failure)));
    }
    if (over.isPresent()) {
      end.accept(over.get());
      return;
    }
    made.orElseThrow()
        .start()
        .whenComplete((outcome, failure) -> end.accept(ended(job, outcome, failure)));
  }

  private Replication prepared(ReplicationJob job, JobDocument document) {
    ReplicationRequest request =
        ReplicationRequest.parse(document.members(), replicator.defaults());
    return replicator.prepare(
        job.next(request), documents.user(document), Optional.of(job.fence()));
  }

  private Optional<Ended> refusal(ReplicationJob job, Replication made) {
    // The run itself may be one that ends.
    String id =
        job.description().id().orElseGet(() -> made.id().base() + job.description().extension());
    job.id().filter(former -> !former.equals(id)).ifPresent(it -> scheduler.release(it, job));
    Optional<String> other = scheduler.claim(id, job);
    if (other.isPresent()) {
      return Optional.of(new Ended(job, How.REFUSED, other.get()));
    }
    if (asked.goesOn(id)) {
      if (job.id().isEmpty()) {
        // Nobody would release it with the job.
        scheduler.release(id, job);
      }
      return Optional.of(
          new Ended(
              job,
              How.NOT_MADE,
              "Replication `%s` specified by document `%s` already running as transient replication, started via `_replicate` API endpoint"
                  .formatted(id, job.key().document())));
    }
    if (!job.takes(made, id, tasks)) {
      scheduler.release(id, job);
      return Optional.of(new Ended(job, How.UNWANTED, ""));
    }
    if (settings.get().updatesDocuments()) {
      toNote.add(Note.triggered(job, clock.instant()));
    }
    return Optional.empty();
  }

  private static Ended ended(ReplicationJob job, Replication.Outcome outcome, Throwable failure) {
    if (failure != null) {
      return new Ended(job, How.FAILED, reason(failure));
    }
    return new Ended(job, outcome.stopped() ? How.STOPPED : How.COMPLETED, "");
  }

  private static String reason(Throwable failure) {
    ReplicationFailure known = ReplicationFailure.of(failure);
    return known.error() + ": " + known.reason();
  }

  private void note(Note note) {
    notes.put(note.key(), note);
  }

  /** Writes what documents are to be told. */
  private void write() {
    for (Note it = toNote.poll(); it != null; it = toNote.poll()) {
      note(it);
    }
    for (Noted it = noted.poll(); it != null; it = noted.poll()) {
      JobKey key = it.note().key();
      beingNoted.remove(key);
      if (!it.isDone()) {
        notes.putIfAbsent(key, it.note());
        noteNanos = System.nanoTime() + LOOK_NANOS;
      } else if (scheduler.job(key).filter(job -> job.phase() == Phase.OVER).isPresent()) {
        scheduler.remove(key);
      }
    }
    if (System.nanoTime() - noteNanos < 0) {
      return;
    }
    List<Note> now =
        notes.values().stream()
            .filter(note -> !beingNoted.contains(note.key()))
            .limit(Math.max(0, NOTES_AT_ONCE - beingNoted.size()))
            .toList();
    for (Note note : now) {
      notes.remove(note.key());
      beingNoted.add(note.key());
      try {
        documents.write(note, isDone -> noted.add(new Noted(note, isDone)));
      } catch (RuntimeException later) {
        LOG.debug("The document {} is told later", note.key(), later);
        noted.add(new Noted(note, false));
      }
    }
  }

  /**
   * Returns the first replications of this server by their ids, those of clients included, and how
   * many there are in all. Thread-safe.
   *
   * @param node this server's name
   */
  public JsonObject jobs(String node, long most) {
    TreeMap<String, Consumer<JsonBuffer>> all = new TreeMap<>(asked.jobs(node));
    for (ReplicationJob job : scheduler.jobs()) {
      if (job.phase() != Phase.OVER) {
        // Jobs without an id come last.
        String unique = job.key().database().text() + '/' + job.key().document();
        all.put(job.id().orElse("~" + unique), out -> job.appendJob(node, out));
      }
    }
    JsonBuffer out = new JsonBuffer(1_024);
    out.ascii("{\"total\":").number(all.size()).ascii(",\"jobs\":[");
    String separator = "";
    for (Consumer<JsonBuffer> job : all.values().stream().limit(most).toList()) {
      job.accept(out.ascii(separator));
      separator = ",";
    }
    return (JsonObject) JsonValue.parse(out.ascii("]}").toBytes());
  }

  /** Returns a replication of this server, as {@link #jobs} does. Thread-safe. */
  public Optional<JsonObject> job(String node, String id) {
    Optional<Consumer<JsonBuffer>> job =
        scheduler.job(id).<Consumer<JsonBuffer>>map(it -> out -> it.appendJob(node, out));
    return job.or(() -> Optional.ofNullable(asked.jobs(node).get(id)))
        .map(
            it -> {
              JsonBuffer out = new JsonBuffer(1_024);
              it.accept(out);
              return (JsonObject) JsonValue.parse(out.toBytes());
            });
  }

  /** Returns what this server runs of a document, as {@link #documents} does. Thread-safe. */
  public Optional<JsonObject> document(String node, DatabaseName database, String id) {
    return scheduler
        .job(new JobKey(database, id))
        .map(
            job -> {
              JsonBuffer out = new JsonBuffer(1_024);
              job.appendDocument(node, settings.get().healthSeconds(), out);
              return (JsonObject) JsonValue.parse(out.toBytes());
            });
  }

  /**
   * Returns what this server runs of the replications of a database's documents, by the documents'
   * ids. Thread-safe.
   *
   * @param node this server's name
   */
  public JsonObject documents(String node, DatabaseName database) {
    JsonBuffer out = new JsonBuffer(1_024).octet('{');
    for (ReplicationJob job : scheduler.jobs()) {
      if (job.key().database().equals(database)) {
        out.ascii(out.length() == 1 ? "" : ",").string(job.key().document()).octet(':');
        job.appendDocument(node, settings.get().healthSeconds(), out);
      }
    }
    return (JsonObject) JsonValue.parse(out.octet('}').toBytes());
  }

  /**
   * Begins to end all runs, each with a last checkpoint. Thread-safe.
   *
   * @return completes when they have ended
   */
  public CompletableFuture<Void> stop() {
    isStopping = true;
    return stopped;
  }

  private void end() {
    events.ifPresent(Registration::close);
    events = Optional.empty();
    known.clear();
    List.copyOf(scheduler.jobs()).forEach(job -> scheduler.remove(job.key()));
    scheduler.step();
    if (scheduler.isIdle()) {
      stopped.complete(null);
    }
  }

  /** Gives back what this server has of the store's replications. */
  @Override
  public void giveBack() {
    if (!held.isEmpty()) {
      buckets.giveBack();
      held = Map.of();
    }
  }
}
