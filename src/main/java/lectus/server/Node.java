package lectus.server;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import lectus.document.write.DocumentWriter;
import lectus.error.LectusException;
import lectus.http.Services;
import lectus.http.Writes;
import lectus.store.Store;
import lectus.store.StorePulse;

/** One running server on an open store, which stays its owner's to close. */
public final class Node implements AutoCloseable {
  private static final long DEPLOY_SECONDS = 30;

  /** What closing connections and the like may take beyond the time for running requests. */
  private static final long STOP_SECONDS = 10;

  /** Other servers hear of a database at most once in this time. */
  private static final Duration EVENT_PAUSE = Duration.ofMillis(5);

  /** So long a server hears of databases that nobody listens to any more. */
  private static final Duration LINGER = Duration.ofSeconds(30);

  /** How much later than its time a request that waits may be answered. */
  private static final long OVERDUE_MILLIS = 250;

  private static final long PULSE_MILLIS = 1_000;

  private final NodeSettings settings;
  private final Neighbours neighbours;
  private final Vertx vertx;
  private final ReaderPool readers;
  private final List<String> executors = new ArrayList<>();
  private final List<String> servers = new ArrayList<>();
  private Announcements others = Announcements.TO_NOBODY;
  private volatile int port;

  private Node(NodeSettings settings, Neighbours neighbours) {
    this.settings = settings;
    this.neighbours = neighbours;
    GatedTransport transport = new GatedTransport();
    this.vertx = neighbours.join(vertxOptions(), transport);
    transport.open(new ConnectionGate(settings.maxConnections(), settings.http().headSeconds()));
    this.readers = new ReaderPool(settings.readers());
  }

  /**
   * Starts to listen; requests are answered when this returns. Databases of earlier versions are
   * upgraded before.
   *
   * @throws StartException when the address cannot be listened on
   */
  public static Node start(NodeSettings settings, Store store) {
    return start(settings, () -> store);
  }

  /**
   * The same on a store that may still be opening: it is asked for when everything else is ready.
   *
   * @throws StartException when the address cannot be listened on
   */
  public static Node start(NodeSettings settings, Supplier<Store> store) {
    return start(settings, store, neighbours(settings));
  }

  /** Hazelcast is loaded only if it is needed. */
  private static Neighbours neighbours(NodeSettings settings) {
    if (settings.cluster().isEmpty()) {
      return new Alone();
    }
    return new HazelcastCluster(settings.cluster().get());
  }

  static Node start(NodeSettings settings, Supplier<Store> store, Neighbours neighbours) {
    Node node = new Node(settings, neighbours);
    try {
      node.deploy(store.get());
      return node;
    } catch (Throwable e) {
      node.close();
      throw e;
    }
  }

  /** The port listened on. */
  public int port() {
    return port;
  }

  /**
   * Ends in order: no request that is running is cut off, as long as it ends in time. What was
   * taken to be written is written even if one does not. A member leaves its cluster when
   * everything else is done.
   *
   * @throws StartException when something did not end in time
   */
  @Override
  public void close() {
    try {
      undeploy(servers, settings.stopGrace().toSeconds() + STOP_SECONDS);
    } finally {
      closeRest();
    }
  }

  private void closeRest() {
    try {
      undeploy(executors, STOP_SECONDS);
      others.flush();
    } finally {
      readers.close();
      await(vertx.close(), STOP_SECONDS);
    }
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

  private void deploy(Store store) {
    Layer layer = new Layer(store, settings);
    upgrade(layer);
    ListenerRegistry listeners = new ListenerRegistry();
    others =
        neighbours
            .channel(vertx)
            .map(channel -> announcements(channel, store.id(), listeners))
            .orElse(Announcements.TO_NOBODY);
    UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, others);
    worker("lectus-poller", poller(layer, listeners, announcer));
    worker("lectus-compaction", new UpdatesCompactionVerticle(layer.compaction()));
    List<WriteQueue> queues = queues();
    Writes writes = deployExecutors(queues, layer.writer(), announcer);
    watch(store, layer.pulse(), queues);
    MembershipAt membership = new MembershipAt(neighbours, () -> settings.address(port));
    deployServers(layer.services(writes, announcer, membership, readers));
  }

  /** Before a request sees any; what cannot be upgraded is served, and takes no writes. */
  private static void upgrade(Layer layer) {
    try {
      layer.upgrade().run();
    } catch (FDBException | LectusException e) {
      throw new StartException(
          "Databases of an earlier version cannot be upgraded: " + e.getMessage() + ".", e);
    }
  }

  /** Connects this server's listeners with the other servers, in both directions. */
  private Announcements announcements(
      EventChannel channel, String storeId, ListenerRegistry listeners) {
    Alarm alarm = new ContextAlarm(vertx);
    listeners.watch(new Subscriptions(channel, listeners, storeId, alarm, LINGER)::check);
    return new CoalescedAnnouncements(storeId, channel, alarm, EVENT_PAUSE, System::nanoTime);
  }

  private ChangesPollerVerticle poller(
      Layer layer, ListenerRegistry listeners, UpdateAnnouncer announcer) {
    PollSettings polls = settings.polls();
    return new ChangesPollerVerticle(
        List.of(
            new StorePoll(
                layer::newestUpdate,
                layer::updatesFrom,
                new DatabaseLook(layer.tails(), listeners, announcer),
                listeners,
                polls)),
        listeners,
        polls);
  }

  private List<WriteQueue> queues() {
    WriteSettings bounds = settings.writes();
    return Stream.generate(() -> new WriteQueue(bounds)).limit(bounds.executors()).toList();
  }

  private Writes deployExecutors(
      List<WriteQueue> queues, DocumentWriter writer, UpdateAnnouncer announcer) {
    for (int number = 0; number < queues.size(); number++) {
      String address = WriteRouter.address(number);
      worker(
          "lectus-executor-" + number,
          new TransactionExecutorVerticle(address, queues.get(number), writer, announcer));
    }
    return new WriteRouter(
        vertx.eventBus(),
        queues,
        settings.writes().batchEdits(),
        Duration.ofSeconds(settings.http().requestSeconds()));
  }

  /** Only a store that others run can fall silent as a whole. */
  private void watch(Store store, StorePulse pulse, List<WriteQueue> queues) {
    List<WaitingRoom> rooms = new ArrayList<>(queues);
    rooms.add(readers);
    StoreWatch watch = new StoreWatch(pulse::ask, rooms);
    vertx.setPeriodic(OVERDUE_MILLIS, timer -> watch.answerOverdue());
    if (store.mayAnswerUnknownResult()) {
      vertx.setPeriodic(PULSE_MILLIS, timer -> watch.look());
    }
  }

  /** Deploys a verticle on a worker thread of its own. */
  private void worker(String thread, Deployable verticle) {
    DeploymentOptions options =
        new DeploymentOptions()
            .setThreadingModel(ThreadingModel.WORKER)
            .setWorkerPoolName(thread)
            .setWorkerPoolSize(1);
    executors.add(await(vertx.deployVerticle(verticle, options), DEPLOY_SECONDS));
  }

  /** One for each core, which share a port. */
  private void deployServers(Services services) {
    for (int number = 0; number < cores(); number++) {
      HttpVerticle server = new HttpVerticle(services, settings);
      try {
        servers.add(await(vertx.deployVerticle(server), DEPLOY_SECONDS));
      } catch (StartException e) {
        throw cannotListen(e);
      }
      port = server.port();
    }
  }

  private StartException cannotListen(StartException failure) {
    String address = settings.address(settings.port());
    String why =
        failure.getCause() instanceof BindException
            ? " is in use, or is no address of this machine."
            : " cannot be listened on.";
    return new StartException("The address " + address + why, failure);
  }

  private void undeploy(List<String> deployments, long seconds) {
    await(Future.join(deployments.stream().map(vertx::undeploy).toList()), seconds);
  }

  /** Whatever a future failed with comes out, checked or not. */
  private static <T> T await(Future<T> future, long seconds) {
    try {
      return future.await(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new StartException("The server did not start or stop in time.", e);
    } catch (Exception e) {
      throw new StartException("The server cannot start: " + e.getMessage(), e);
    }
  }
}
