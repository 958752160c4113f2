package lectus.server;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.changes.notify.UpdateAnnouncer.Announcements;
import lectus.changes.page.SessionNotifications;
import lectus.http.OtherMembers;
import lectus.http.api.HttpApi;
import lectus.http.exchange.Services;
import lectus.http.limits.RequestThreads;
import lectus.http.testing.Connection;
import lectus.http.testing.TestSettings;
import lectus.metrics.Metrics;
import lectus.server.Node.MembershipAt;
import lectus.server.Node.SingleNode;
import lectus.server.writing.WriteQueue;
import lectus.server.writing.WriteRouter;
import lectus.server.writing.WriteSettings;
import lectus.store.Store;

/** A server whose listeners and queues a test can see, without executors that empty them. */
final class BareServer implements AutoCloseable {
  private final Vertx vertx = Vertx.vertx();
  private final RequestThreads readers;
  private final Metrics metrics = new Metrics();
  private final ListenerRegistry listeners = new ListenerRegistry();
  private final Layer layer;
  private final Services services;
  private final HttpApi api;
  private final Context context = vertx.getOrCreateContext();
  private final HttpServer server;

  BareServer(Store store, WriteSettings bounds) throws TimeoutException {
    this(store, bounds, new TestSettings());
  }

  BareServer(Store store, WriteSettings bounds, TestSettings test) throws TimeoutException {
    NodeSettings settings = test.toNode();
    readers = new RequestThreads(settings.readers());
    layer = new Layer(store, settings);
    List<WriteQueue> queues =
        IntStream.range(0, bounds.executors()).mapToObj(number -> new WriteQueue(bounds)).toList();
    UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, Announcements.TO_NOBODY);
    WriteRouter writes =
        new WriteRouter(
            vertx.eventBus(),
            queues,
            bounds.batchEdits(),
            Duration.ofSeconds(settings.http().requestSeconds()));
    MembershipAt membership = new MembershipAt(new SingleNode(), () -> "127.0.0.1:0");
    services =
        layer.services(
            writes,
            announcer,
            SessionNotifications.NONE,
            membership,
            OtherMembers.NONE,
            readers,
            metrics,
            Optional.empty(),
            () -> {});
    api = new HttpApi(services, settings.http());
    server =
        Future.<HttpServer>future(
                started ->
                    context.runOnContext(
                        none ->
                            api.createServer(vertx, Optional.empty())
                                .listen(0, "127.0.0.1")
                                .onComplete(started)))
            .await(20, TimeUnit.SECONDS);
  }

  Layer layer() {
    return layer;
  }

  Services services() {
    return services;
  }

  ListenerRegistry listeners() {
    return listeners;
  }

  /** Returns the number of open live feeds, however their listeners read. */
  int openFeeds() {
    return Future.<Integer>future(
            counted -> context.runOnContext(none -> counted.complete(api.openFeeds())))
        .await();
  }

  Connection connect() {
    return new Connection(server.actualPort());
  }

  /** Connects with a small receive buffer. */
  Connection connectSlowly() {
    return new Connection(server.actualPort(), 16 << 10);
  }

  @Override
  public void close() {
    vertx.close().await();
    readers.close();
    metrics.close();
  }
}
