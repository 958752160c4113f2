package lectus.server;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import lectus.account.Accounts;
import lectus.changes.notify.AdmissionPoll;
import lectus.changes.notify.AdmittedUsers;
import lectus.changes.notify.Announcements;
import lectus.changes.notify.BusFigures;
import lectus.changes.notify.DatabaseLook;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.PollSettings;
import lectus.changes.notify.StorePoll;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.database.LiveSettings;
import lectus.document.write.Writes;
import lectus.error.StartException;
import lectus.http.OtherMembers;
import lectus.http.ServedSettings;
import lectus.http.admin.NodeApi;
import lectus.http.admin.OwnResources;
import lectus.http.exchange.Services;
import lectus.http.exchange.Tracing;
import lectus.http.exchange.TracingFigures;
import lectus.http.limits.RequestThreads;
import lectus.http.limits.StoreWatch;
import lectus.http.limits.WaitingRoom;
import lectus.metrics.Metrics;
import lectus.server.connection.ConnectionGate;
import lectus.server.connection.GatedTransport;
import lectus.server.writing.WriteQueue;
import lectus.store.Store;
import lectus.store.StorePulse;

/** One running server on an open store, whose owner closes it. */
public final class Node implements AutoCloseable {
  /** What closing connections and the like may take beyond the time for running requests. */
  private static final long STOP_SECONDS = 10;

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
  private Announcements others = Announcements.TO_NOBODY;
  private Optional<LiveSettings<ServedSettings>> settingsInForce = Optional.empty();
  private Optional<Accounts> accounts = Optional.empty();
  private Optional<Tracing> tracing = Optional.empty();

  private Node(NodeSettings settings, ClusterMembership cluster) {
    this.settings = settings;
    this.cluster = cluster;
    GatedTransport transport = new GatedTransport();
    this.vertx = cluster.join(vertxOptions(), transport);
    this.gate =
        new ConnectionGate(
            settings.maxConnections(),
            settings.http().headSeconds(),
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

  /** Returns the port that the server listens on. */
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
    TracingFigures figures = new TracingFigures();
    metrics.add(figures);
    tracing = settings.tracing().map(it -> new Tracing(it, settings.http().version(), figures));
  }

  /** From the store upwards; the address comes last. */
  private void serve(Store store) {
    Layer layer = new Layer(store, settings);
    ListenerRegistry listeners = new ListenerRegistry();
    BusFigures bus = new BusFigures();
    others = OtherServers.announcements(vertx, cluster, store.id(), listeners, bus);
    UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, others);
    AdmittedUsers users = new AdmittedUsers();
    ChangesPollerVerticle poller = poller(layer, listeners, announcer, users);
    workers.onThread("lectus-poller", poller);
    layer.background().forEach(workers::onThread);
    WritePool pool = new WritePool(settings);
    pool.start(workers, layer.writer(), announcer);
    settingsInForce = Optional.of(layer.settings().start());
    index(layer, pool);
    accounts = Optional.of(layer.accounts().start());
    watch(store, layer.pulse(), pool.queues());
    Writes writes = pool.entrance(vertx.eventBus());
    MembershipAt membership = new MembershipAt(cluster, servers::address);
    NodeFigures own = new NodeFigures(membership, servers::certificateEnd);
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
            this::wantRestart);
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

  private void index(Layer layer, WritePool pool) {
    for (int number = 0; number < settings.jobTasks(); number++) {
      workers.onThread(
          "lectus-indexing-" + number,
          layer.indexing(() -> threads.haveToWait() || pool.hasToWait()));
    }
  }

  private OtherMembers members(Layer layer) {
    return vertx.isClustered()
        ? new MemberBus(vertx, layer.accounts().cookieSecret()::read)
        : OtherMembers.NONE;
  }

  private void answerMembers(Services services) {
    if (vertx.isClustered()) {
      OwnResources parts = new NodeApi(services, settings.http()).parts();
      new MemberDesk(vertx, services.accounts().cookieSecret()::read, parts::answer)
          .open(services.membership().self());
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
    try {
      workers.end(STOP_SECONDS);
      others.flush();
    } finally {
      settingsInForce.ifPresent(LiveSettings::close);
      accounts.ifPresent(Accounts::close);
      threads.close();
      metrics.close();
      tracing.ifPresent(Tracing::close);
      Deployments.await(vertx.close(), STOP_SECONDS);
    }
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
      Layer layer, ListenerRegistry listeners, UpdateAnnouncer announcer, AdmittedUsers users) {
    PollSettings polls = settings.polls();
    StorePoll store =
        new StorePoll(
            layer::newestUpdate,
            layer::updatesFrom,
            new DatabaseLook(layer.tails(), listeners, announcer),
            listeners,
            StorePoll.MAX_ROWS,
            polls);
    AdmissionPoll admissions =
        new AdmissionPoll(
            layer.accountsTail()::look,
            layer.accounts()::current,
            users,
            () -> layer.settings().current().http().access().requiresUser(false),
            store::hurry);
    return new ChangesPollerVerticle(List.of(admissions, store), listeners, polls);
  }

  /** Only a store that others run can fall silent as a whole. */
  private void watch(Store store, StorePulse pulse, List<WriteQueue> queues) {
    List<WaitingRoom> rooms = new ArrayList<>(queues);
    rooms.add(threads);
    StoreWatch watch = new StoreWatch(pulse::ask, rooms);
    vertx.setPeriodic(OVERDUE_MILLIS, timer -> watch.answerOverdue());
    if (store.mayAnswerUnknownResult()) {
      vertx.setPeriodic(PULSE_MILLIS, timer -> watch.look());
    }
  }
}
