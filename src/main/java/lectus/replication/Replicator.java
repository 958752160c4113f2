package lectus.replication;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.database.Whereabouts.Moved;
import lectus.error.LectusException;
import lectus.http.Signatures;
import lectus.http.client.HttpCaller;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.client.RemoteAddress;
import lectus.http.client.SharedThreads;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.metrics.DaemonThreads;
import lectus.replication.BatchCopy.Limits;
import lectus.replication.LocalDatabase.LocalParts;
import lectus.replication.LocalDatabase.LocalUse;
import lectus.replication.ReplicationRequest.Choice;
import lectus.replication.ReplicationRequest.Defaults;
import lectus.replication.ReplicationRequest.End;
import lectus.store.Fence;

/** Makes runs of replications, which share a server's threads and memory. */
public final class Replicator implements AutoCloseable {
  private static final int IDLE_SECONDS = 30;

  /** What a thread holds of a batch, as JSON and parsed, in bytes. */
  private static final int BYTES_OF_THREAD = 2 << 20;

  /** One part in so many of the memory is for large pages of changes. */
  private static final int PAGES_PART = 4;

  private static final int MIN_THREADS = 4;
  private static final int MAX_THREADS = 128;

  /** One thread in so many is left by each user to others. */
  private static final int FREE_PART = 4;

  /**
   * How a server replicates.
   *
   * @param client which other servers it may ask
   * @param defaults where a request says nothing
   * @param uuid in place of the store's
   * @param memory for what threads hold, in bytes, and for large pages of changes
   * @param mostDocumentBytes how many bytes a document may have without its attachments
   */
  public record ReplicatorSettings(
      ClientSettings client,
      Defaults defaults,
      Optional<String> uuid,
      long memory,
      int mostDocumentBytes) {}

  private final HttpCaller caller;
  private final Optional<LocalParts> local;
  private final String uuid;
  private final ExecutorService threads;
  private final SharedThreads shared;
  private final Limits limits;
  private final Defaults defaults;

  /**
   * @param local what reads and writes this store's databases; empty: there are none
   * @param uuid which makes this server's replications known to those that ran them before
   */
  public Replicator(
      HttpCaller caller,
      Optional<LocalParts> local,
      String uuid,
      ExecutorService threads,
      ReplicatorSettings settings) {
    this.caller = caller;
    this.local = local;
    this.uuid = uuid;
    this.threads = threads;
    int most = most(settings.memory());
    this.shared = new SharedThreads(threads, most - Math.max(1, most / FREE_PART));
    this.limits = Limits.of(settings.mostDocumentBytes(), settings.memory() / PAGES_PART);
    this.defaults = settings.defaults();
  }

  /**
   * Returns the threads of a server's replications.
   *
   * @param memory for what they hold, in bytes
   */
  public static ExecutorService threads(long memory) {
    return DaemonThreads.pool(
        most(memory), IDLE_SECONDS, DaemonThreads.numbered("lectus-replication-"));
  }

  private static int most(long memory) {
    long ofThreads = memory - memory / PAGES_PART;
    return (int) Math.max(MIN_THREADS, Math.min(MAX_THREADS, ofThreads / BYTES_OF_THREAD));
  }

  /**
   * Returns a run that can be started once. Waits for the source if a function of it filters, whose
   * text is a part of the id.
   *
   * @param user for whom local databases are read and written
   * @param fence what must hold wherever a local edit is stored
   */
  public Replication prepare(ReplicationRequest request, UserContext user, Optional<Fence> fence) {
    AtomicReference<Replication> run = new AtomicReference<>();
    BooleanSupplier isStopped = () -> run.get() != null && run.get().isStopped();
    LocalUse use = new LocalUse(user, executor(user.name()), isStopped, fence);
    Source source = (Source) end(request.source(), request, use);
    Target target = (Target) end(request.target(), request, use);
    Optional<String> filter = filter(request, source);
    ReplicationId id = ReplicationId.of(request, uuid, filter);
    String former = ReplicationId.base(request, uuid, filter, ReplicationId.FORMER_VERSION);
    checkLocal(source, Optional.empty());
    checkLocal(target, request.options().creation());
    Executor steps = new SharedThreads(use.executor(), request.options().connections()).of("run");
    run.set(new Replication(request, id, former, source, target, steps, limits));
    return run.get();
  }

  /** Who may not have a local database is told so at once. */
  private static void checkLocal(Endpoint end, Optional<JsonObject> creation) {
    if (end instanceof LocalDatabase && creation.isEmpty()) {
      end.info();
    }
  }

  private Endpoint end(End end, ReplicationRequest request, LocalUse use) {
    if (end instanceof End.Remote remote) {
      return new RemoteDatabase(
          caller, remote.address(), request.choice(), request.options(), use.isStopped());
    }
    LocalParts parts =
        local.orElseThrow(() -> LectusException.badRequest("There are no local databases here."));
    DatabaseName name = ((End.Local) end).name();
    Optional<Moved> elsewhere = passesTo(parts, name);
    return elsewhere.isPresent()
        ? passing(parts, name, elsewhere.get(), request, use)
        : new LocalDatabase(parts, name, request.choice(), request.options(), use);
  }

  private static Optional<Moved> passesTo(LocalParts parts, DatabaseName name) {
    return parts.catalogue().locate(name).flatMap(DatabaseHandle::passesTo);
  }

  /** A database that has moved is asked at its new place, as for any other client of this one. */
  private Endpoint passing(
      LocalParts parts, DatabaseName name, Moved to, ReplicationRequest request, LocalUse use) {
    Map<String, String> vouching = Signatures.vouch(use.user(), to.secret());
    return new RemoteDatabase(
        caller,
        RemoteAddress.of(to.place(), vouching, Optional.empty()),
        request.choice(),
        request.options(),
        use.isStopped(),
        () -> {
          if (!passesTo(parts, name).equals(Optional.of(to))) {
            throw new ReplicationFailure(
                ReplicationFailure.NOT_FOUND,
                "db_not_found",
                "could not open "
                    + name
                    + ", which is not passed on to "
                    + to.place()
                    + " any more");
          }
        });
  }

  private static Optional<String> filter(ReplicationRequest request, Source source) {
    if (!(request.choice() instanceof Choice.OfFilter some) || some.function().isEmpty()) {
      return Optional.empty();
    }
    String design = some.function().get().get(0);
    String name = some.function().get().get(1);
    JsonObject document =
        source
            .design(design)
            .orElseThrow(() -> notFetched("Couldn't open document `" + design, source));
    if (document.get("filters").orElse(null) instanceof JsonObject filters
        && filters.get(name).orElse(null) instanceof JsonString code) {
      return Optional.of(code.value());
    }
    throw notFetched("Couldn't parse filter code from document `" + design, source);
  }

  private static ReplicationFailure notFetched(String what, Source source) {
    return ReplicationFailure.passing(
        "filter_fetch_error", what + "` of source database `" + source.shown() + "`");
  }

  /** Returns the id of a replication, as far as no function filters; never waits. */
  public ReplicationId id(ReplicationRequest request) {
    return ReplicationId.of(request, uuid, Optional.empty());
  }

  /** Returns what applies where a request says nothing. */
  public Defaults defaults() {
    return defaults;
  }

  /** Returns what runs steps of somebody's replications, which may wait. */
  public Executor executor(Optional<String> user) {
    return shared.of(user);
  }

  @Override
  public void close() {
    threads.shutdownNow();
    caller.close();
  }
}
