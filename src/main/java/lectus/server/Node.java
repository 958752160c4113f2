package lectus.server;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.transport.Transport;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import lectus.account.Accounts;
import lectus.changes.notify.BusSubscriptions;
import lectus.changes.notify.CoalescedAnnouncements;
import lectus.changes.notify.CoalescedAnnouncements.Alarm;
import lectus.changes.notify.DatabaseLook;
import lectus.changes.notify.EventChannel;
import lectus.changes.notify.EventChannel.BusMetrics;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.ListeningUsers;
import lectus.changes.notify.SessionPoll;
import lectus.changes.notify.StorePoll;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.database.LiveSettings;
import lectus.document.write.DocumentWriter;
import lectus.document.write.Writes;
import lectus.error.StartException;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Membership;
import lectus.http.ServedSettings;
import lectus.http.api.NodeApi;
import lectus.http.client.HttpCaller;
import lectus.http.exchange.Services;
import lectus.http.exchange.Tracing;
import lectus.http.exchange.Tracing.TracingMetrics;
import lectus.http.limits.RequestThreads;
import lectus.http.limits.StoreWatch;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.metrics.Metrics;
import lectus.metrics.Metrics.ExpositionFormat;
import lectus.replication.Replications;
import lectus.replication.jobs.ReplicationJobs;
import lectus.script.Scripts;
import lectus.server.WriteQueue.WriteSettings;
import lectus.server.connection.ConnectionGate;
import lectus.server.connection.LimitedTransport;
import lectus.store.Store;
import lectus.store.StoreHeartbeat;
import lectus.view.Views;

/** One running server on an open store, whose owner closes it. */
public final class Node implements AutoCloseable {
  /** What closing connections and the like may take beyond the time for running requests. */
  private static final long STOP_SECONDS = 10;

  private static final long REPLICATIONS_SECONDS = 3;

  /** How much later than its time a request that waits may be answered. */
  private static final long OVERDUE_MILLIS = 250;

  private static final long PULSE_MILLIS = 1_000;

  /** By then the client has its answer, even if it asked another member for the restart. */
  private static final long BEFORE_RESTART_MILLIS = 100;

  private final NodeSettings settings;
  private final ClusterMembership cluster;
  private final Vertx vertx;
  private final ConnectionGate gate;
  private final RequestThreads threads;
  private final Deployments workers;
  private final HttpServers servers;
  private final Metrics metrics = new Metrics();
  private final CompletableFuture<Void> restart = new CompletableFuture<>();
  private Optional<CoalescedAnnouncements> others = Optional.empty();
  private Optional<LiveSettings<ServedSettings>> settingsInForce = Optional.empty();
  private Optional<Accounts> accounts = Optional.empty();
  private Optional<Scripts> scripts = Optional.empty();
  private Optional<Views> views = Optional.empty();
  private Optional<Replications> replications = Optional.empty();
  private Optional<ReplicationJobs> jobs = Optional.empty();
  private Optional<Tracing> tracing = Optional.empty();

  private Node(NodeSettings settings, ClusterMembership cluster) {
    this.settings = settings;
    this.cluster = cluster;
    LimitedTransport transport = new LimitedTransport();
    this.vertx = cluster.join(vertxOptions(), transport);
    this.gate =
        new ConnectionGate(
            settings.maxConnections(),
            settings.http().connections().headSeconds(),
            settings.wire().tls().isPresent(),
            settings.wire().announcing(),
            settings.http().proxies());
    transport.open(gate);
    metrics.add(gate);
    this.threads = new RequestThreads(settings.readers());
    this.workers = new Deployments(vertx);
    this.servers = new HttpServers(vertx, settings, cores());
  }

  /**
   * Starts to listen; requests are answered when this returns.
   *
   * @throws StartException if the address cannot be listened on
   */
  public static Node start(NodeSettings settings, Store store) {
    return start(settings, () -> store);
  }

  /**
   * As above, on a store that may still be opening: it is awaited after everything else is ready.
   *
   * @throws StartException if the address cannot be listened on
   */
  public static Node start(NodeSettings settings, Supplier<Store> store) {
    return start(settings, store, cluster(settings));
  }

  static Node start(NodeSettings settings, Supplier<Store> store, ClusterMembership cluster) {
    Node node = new Node(settings, cluster);
    try {
      node.servers.prepare();
      node.trace();
      node.serve(store.get());
      return node;
    } catch (Throwable e) {
      node.close();
      throw e;
    }
  }

  /**
   * Checks that the addresses can be listened on, and that they are not the same one.
   *
   * @throws StartException one of them cannot
   */
  public static void checkAddresses(NodeSettings settings) {
    try (ServerSocket listen = settings.listen().take()) {
      if (settings.metrics().isPresent()) {
        settings.metrics().get().take().close();
      }
    } catch (IOException e) {
      throw settings.listen().refused(e);
    }
  }

  public int port() {
    return servers.port();
  }

  /** Completes when a client wants the server to restart; its owner does so. */
  public CompletableFuture<Void> restartWanted() {
    return restart;
  }

  private void wantRestart() {
    vertx.setTimer(BEFORE_RESTART_MILLIS, timer -> restart.complete(null));
  }

  private void trace() {
    TracingMetrics figures = new TracingMetrics();
    metrics.add(figures);
    tracing =
        settings.tracing().map(it -> new Tracing(it, settings.http().server().version(), figures));
  }

  /** From the store upwards; the address comes last. */
  private void serve(Store store) {
    WritePool pool = new WritePool(settings);
    Layer layer = new Layer(store, settings, () -> threads.haveToWait() || pool.hasToWait());
    ListenerRegistry listeners = new ListenerRegistry();
    BusMetrics bus = new BusMetrics();
    others = OtherServers.announcements(vertx, cluster, store.id(), listeners, bus);
    UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, others);
    ListeningUsers users = new ListeningUsers();
    ChangesPollerVerticle poller = poller(layer, listeners, announcer, users);
    workers.onThread("lectus-poller", poller);
    layer.background().forEach(workers::onThread);
    pool.start(workers, layer.writer(), announcer);
    settingsInForce = Optional.of(layer.settings().start());
    index(layer);
    accounts = Optional.of(layer.accounts().start());
    scripts = Optional.of(layer.scripts());
    views = Optional.of(layer.views());
    watch(store, layer.pulse(), pool.queues());
    Writes writes = pool.entrance(vertx.eventBus());
    MembershipAt membership = new MembershipAt(cluster, servers::address);
    NodeMetrics own = new NodeMetrics(membership, servers::certificateEnd);
    List.of(bus, announcer, poller, pool, threads, own).forEach(metrics::add);
    Services services =
        layer.services(
            writes,
            announcer,
            users,
            membership,
            members(layer),
            threads,
            metrics,
            tracing,
            new HttpCaller(vertx, settings.replicator().client()),
            this::wantRestart);
    replications = Optional.of(services.replications());
    jobs = Optional.of(services.jobs());
    workers.onThread("lectus-replicator", Layer.replicating(services.jobs()));
    workers.onThread("lectus-relocations", Layer.relocating(services.databases().relocations()));
    servers.listen(services);
    answerMembers(services);
    settings.metrics().ifPresent(this::serveMetrics);
  }

  private void serveMetrics(ListenPort at) {
    try {
      workers.onEventLoop(new MetricsVerticle(metrics, at));
    } catch (StartException e) {
      throw at.refused(e.getCause());
    }
  }

  private void index(Layer layer) {
    for (int number = 0; number < settings.jobTasks(); number++) {
      workers.onThread("lectus-indexing-" + number, layer.indexing());
    }
  }

  private OtherMembers members(Layer layer) {
    return vertx.isClustered()
        ? new MemberBus(vertx, layer.accounts().cookieSecret()::read)
        : OtherMembers.NONE;
  }

  private void answerMembers(Services services) {
    if (vertx.isClustered()) {
      NodeApi node = new NodeApi(services, settings.http());
      new MemberRequestHandler(
              vertx, services.users().accounts().cookieSecret()::read, node::answer)
          .open(services.server().membership().self());
    }
  }

  /**
   * Stops in order: no running request is cut off if it ends in time. Accepted writes are written
   * in any case. A member leaves its cluster after everything else is done.
   *
   * @throws StartException if something did not end in time
   */
  @Override
  public void close() {
    try {
      gate.close();
      servers.end(STOP_SECONDS);
    } finally {
      closeRest();
    }
  }

  private void closeRest() {
    jobs.ifPresent(Node::end);
    replications.ifPresent(Replications::close);
    try {
      workers.end(STOP_SECONDS);
      others.ifPresent(CoalescedAnnouncements::flush);
    } finally {
      settingsInForce.ifPresent(LiveSettings::close);
      accounts.ifPresent(Accounts::close);
      views.ifPresent(Views::close);
      scripts.ifPresent(Scripts::close);
      threads.close();
      metrics.close();
      tracing.ifPresent(Tracing::close);
      // The other members of a cluster first take over what this one has.
      Deployments.await(vertx.close(), 2 * STOP_SECONDS);
    }
  }

  /** Replications that take longer are cut off, and go on from an earlier checkpoint. */
  private static void end(ReplicationJobs jobs) {
    CompletableFuture<Void> ended =
        jobs.stop().copy().completeOnTimeout(null, REPLICATIONS_SECONDS, TimeUnit.SECONDS);
    Deployments.await(Future.fromCompletionStage(ended), STOP_SECONDS);
  }

  /** Hazelcast is loaded only if it is needed. */
  private static ClusterMembership cluster(NodeSettings settings) {
    if (settings.cluster().isEmpty()) {
      return new SingleNode();
    }
    return new HazelcastCluster(settings.cluster().get());
  }

  private static VertxOptions vertxOptions() {
    return new VertxOptions()
        .setEventLoopPoolSize(cores())
        .setWorkerPoolSize(1)
        .setInternalBlockingPoolSize(1)
        .setDisableTCCL(true)
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  private static int cores() {
    return Runtime.getRuntime().availableProcessors();
  }

  private ChangesPollerVerticle poller(
      Layer layer, ListenerRegistry listeners, UpdateAnnouncer announcer, ListeningUsers users) {
    PollSettings polls = settings.polls();
    StorePoll store =
        new StorePoll(
            layer::newestUpdate,
            layer::updatesFrom,
            new DatabaseLook(layer.tails(), listeners, announcer),
            listeners,
            StorePoll.MAX_ROWS,
            polls);
    SessionPoll admissions =
        new SessionPoll(
            layer.accountsTail()::look,
            layer.accounts()::current,
            users,
            () -> layer.settings().current().http().access().requiresUser(false),
            store::hurry);
    return new ChangesPollerVerticle(List.of(admissions, store), listeners, polls);
  }

  /** Only a store that others run can fall silent as a whole. */
  private void watch(Store store, StoreHeartbeat pulse, List<WriteQueue> queues) {
    List<StoreWatch.Waiting> rooms = new ArrayList<>(queues);
    rooms.add(threads);
    StoreWatch watch = new StoreWatch(pulse::ask, rooms);
    vertx.setPeriodic(OVERDUE_MILLIS, timer -> watch.answerOverdue());
    if (store.mayAnswerUnknownResult()) {
      vertx.setPeriodic(PULSE_MILLIS, timer -> watch.look());
    }
  }

  /**
   * The members, as seen by a server.
   *
   * @param address at which it listens, as host:port; known before the first call
   */
  record MembershipAt(ClusterMembership cluster, Supplier<String> address) implements Membership {
    @Override
    public String self() {
      return cluster.name(address.get());
    }

    @Override
    public List<String> members() {
      return cluster.members(address.get());
    }
  }

  /**
   * What a server is besides the work that it does.
   *
   * @param certificateEnd when its certificate expires, in seconds since 1970
   */
  private record NodeMetrics(Membership membership, DoubleSupplier certificateEnd)
      implements Measured {
    @Override
    public void describe(Meters meters) {
      meters.level(
          "lectus_cluster_members",
          "Members of the cluster that this server sees, itself included.",
          () -> membership.members().size());
      meters.level(
          "lectus_tls_certificate_end_seconds",
          "When the certificate expires, in seconds since 1970; without TLS never.",
          certificateEnd);
    }
  }

  /** A server that stands alone. */
  static final class SingleNode implements ClusterMembership {
    @Override
    public Vertx join(VertxOptions options, Transport transport) {
      return Vertx.builder().with(options).withTransport(transport).build();
    }

    @Override
    public Optional<EventChannel> channel(Vertx joined) {
      return Optional.empty();
    }

    @Override
    public List<String> members(String self) {
      return List.of(name(self));
    }
  }

  /** Connects this server's listeners with the other servers, in both directions. */
  private static final class OtherServers {
    /** The least time between two events of one database. */
    private static final Duration EVENT_PAUSE = Duration.ofMillis(5);

    /** The time for which a subscription outlives its last listener. */
    private static final Duration LINGER = Duration.ofSeconds(30);

    private OtherServers() {}

    /** Returns what announces to the other servers, whose events wake the listeners from now on. */
    static Optional<CoalescedAnnouncements> announcements(
        Vertx vertx,
        ClusterMembership cluster,
        String storeId,
        ListenerRegistry listeners,
        BusMetrics figures) {
      return cluster
          .channel(vertx)
          .map(figures::counting)
          .map(channel -> connect(new ContextTimer(vertx), channel, storeId, listeners));
    }

    private static CoalescedAnnouncements connect(
        Alarm alarm, EventChannel channel, String storeId, ListenerRegistry listeners) {
      listeners.watch(new BusSubscriptions(channel, listeners, storeId, alarm, LINGER)::check);
      return new CoalescedAnnouncements(storeId, channel, alarm, EVENT_PAUSE, System::nanoTime);
    }

    /** An alarm on one event loop, in whole milliseconds. */
    private static final class ContextTimer implements Alarm {
      private final Vertx vertx;
      private final Context context;

      public ContextTimer(Vertx vertx) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
      }

      @Override
      public void in(Duration delay, Runnable task) {
        context.runOnContext(
            none -> {
              if (delay.isZero()) {
                task.run();
              } else {
                vertx.setTimer(Math.max(1, delay.toMillis()), fired -> task.run());
              }
            });
      }
    }
  }

  /** The queues of writes, and the executors that empty them. */
  private static final class WritePool implements Measured {
    private final NodeSettings settings;
    private final List<WriteQueue> queues;

    WritePool(NodeSettings settings) {
      WriteSettings bounds = settings.writes();
      this.settings = settings;
      this.queues =
          Stream.generate(() -> new WriteQueue(bounds)).limit(bounds.executors()).toList();
    }

    List<WriteQueue> queues() {
      return queues;
    }

    @Override
    public void describe(Meters meters) {
      for (int number = 0; number < queues.size(); number++) {
        queues.get(number).describe(meters.with("executor", Integer.toString(number)));
      }
    }

    /** Whether there are edits that no transaction takes yet. */
    boolean hasToWait() {
      return queues.stream().anyMatch(WriteQueue::hasToWait);
    }

    void start(Deployments verticles, DocumentWriter writer, UpdateAnnouncer announcer) {
      for (int number = 0; number < queues.size(); number++) {
        String address = WriteRouter.address(number);
        verticles.onThread(
            "lectus-executor-" + number,
            new TransactionExecutorVerticle(address, queues.get(number), writer, announcer));
      }
    }

    /** Returns the entrance of the pool, which chooses the queue of each edit. */
    Writes entrance(EventBus bus) {
      return new WriteRouter(
          bus,
          queues,
          settings.writes().batchEdits(),
          Duration.ofSeconds(settings.http().requests().requestSeconds()));
    }
  }

  /**
   * A port on which Prometheus reads the figures of the server, without a log-in. Nothing else is
   * answered there, and no figure names a database, a document or a user.
   */
  private static final class MetricsVerticle extends VerticleBase {
    private static final Set<String> PATHS = Set.of("/metrics", "/_node/_local/_prometheus");

    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int NOT_ALLOWED = 405;
    private static final int FAILED = 500;

    private static final int IDLE_SECONDS = 60;

    private final Metrics metrics;
    private final ListenPort settings;
    private HttpServer server;

    MetricsVerticle(Metrics metrics, ListenPort settings) {
      this.metrics = metrics;
      this.settings = settings;
    }

    @Override
    public Future<?> start() {
      server =
          vertx
              .createHttpServer(new HttpServerOptions().setIdleTimeout(IDLE_SECONDS))
              .requestHandler(this::answer);
      return server.listen(settings.port(), settings.host());
    }

    @Override
    public Future<?> stop() {
      return server.close();
    }

    private void answer(HttpServerRequest request) {
      if (!PATHS.contains(request.path())) {
        request.response().setStatusCode(NOT_FOUND).end();
      } else if (request.method() != HttpMethod.GET) {
        request
            .response()
            .setStatusCode(NOT_ALLOWED)
            .putHeader(HttpHeaders.ALLOW, HttpMethod.GET.name())
            .end();
      } else {
        ExpositionFormat format =
            ExpositionFormat.of(String.join(",", request.headers().getAll(HttpHeaders.ACCEPT)));
        Future.fromCompletionStage(metrics.text(format), context)
            .onComplete(
                text -> send(request, OK, format, text),
                failure -> send(request, FAILED, format, ""));
      }
    }

    private static void send(
        HttpServerRequest request, int status, ExpositionFormat format, String text) {
      if (!request.response().closed()) {
        request
            .response()
            .setStatusCode(status)
            .putHeader(HttpHeaders.CONTENT_TYPE, format.contentType())
            .end(Buffer.buffer(text));
      }
    }
  }
}
