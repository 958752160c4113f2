package lectus.server;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import lectus.http.Services;
import lectus.http.api.HttpApi;
import lectus.http.testing.Connection;
import lectus.http.testing.TestSettings;
import lectus.store.Store;

/** A server whose listeners and queues a test can see, with no executor that empties them. */
final class BareServer implements AutoCloseable {
  private final Vertx vertx = Vertx.vertx();
  private final ReaderPool readers = new ReaderPool(4);
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
    layer = new Layer(store, settings);
    List<WriteQueue> queues =
        IntStream.range(0, bounds.executors()).mapToObj(number -> new WriteQueue(bounds)).toList();
    UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, Announcements.TO_NOBODY);
    WriteRouter writes =
        new WriteRouter(vertx.eventBus(), queues, bounds.batchEdits(), Duration.ofSeconds(10));
    MembershipAt membership = new MembershipAt(new Alone(), () -> "127.0.0.1:0");
    services = layer.services(writes, announcer, membership, readers);
    api = new HttpApi(services, settings.http());
    server =
        Future.<HttpServer>future(
                started ->
                    context.runOnContext(
                        none -> api.createServer(vertx).listen(0, "127.0.0.1").onComplete(started)))
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

  /** Live feeds that are open, however their listeners read. */
  int openFeeds() {
    return Future.<Integer>future(
            counted -> context.runOnContext(none -> counted.complete(api.openFeeds())))
        .await();
  }

  Connection connect() {
    return new Connection(server.actualPort());
  }

  /** By a client whose system takes little for it. */
  Connection connectSlowly() {
    return new Connection(server.actualPort(), 16 << 10);
  }

  @Override
  public void close() {
    vertx.close().await();
    readers.close();
  }
}
