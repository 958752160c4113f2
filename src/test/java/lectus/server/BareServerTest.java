package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import lectus.changes.notify.ListenerRegistry;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.changes.page.SessionNotifications;
import lectus.database.DatabaseName;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.testing.TestLayout;
import lectus.http.OtherMembers;
import lectus.http.api.HttpApi;
import lectus.http.client.HttpCaller;
import lectus.http.exchange.Services;
import lectus.http.limits.RequestThreads;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.metrics.Metrics;
import lectus.server.Node.MembershipAt;
import lectus.server.Node.SingleNode;
import lectus.server.WriteQueue.WriteSettings;
import lectus.store.CountedReads;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Full queues, and listeners that come and go. */
final class BareServerTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int WRITES = 40;

  /** Twice as often as idle shards are polled anyway. */
  private static final long LOOK_NANOS = 1_000_000_000;

  private static String put(String target, String json) {
    return "PUT "
        + target
        + " HTTP/1.1\r\nHost: h\r\nContent-Length: "
        + json.length()
        + "\r\n\r\n"
        + json;
  }

  private static String bulk(int documents) {
    String json = "{\"docs\":[{}" + ",{}".repeat(documents - 1) + "]}";
    return "POST /w/_bulk_docs HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
        + "Content-Length: "
        + json.length()
        + "\r\n\r\n"
        + json;
  }

  @Test
  void a_full_queue_is_503_with_retry_after() throws TimeoutException {
    WriteSettings two = new WriteSettings(1, 2, 1 << 20, 64, 1 << 20);
    try (BareServer server = new BareServer(stores.fresh(), two);
        Connection connection = server.connect()) {
      server.layer().catalogue().create(DatabaseName.of("w"), TestLayout.OPTIONS);
      for (String id : new String[] {"a", "b"}) {
        connection.write(put("/w/" + id + "?batch=ok", "{}"));
        connection.read(false).expect(202);
      }

      Answer full = connection.write(put("/w/c", "{}")).read(false).expect(503);
      assertThat(full.header("retry-after")).isEqualTo("1");
      full.expect(
          "{\"error\":\"service_unavailable\",\"reason\":\"Too many writes are" + " waiting.\"}\n");
      connection.write(bulk(1)).read(false).expect(503);
    }
  }

  @Test
  void a_listener_is_forgotten_when_its_client_goes() throws TimeoutException {
    WriteSettings bounds = new WriteSettings(1, 10, 1 << 20, 64, 1 << 20);
    try (BareServer server = new BareServer(stores.fresh(), bounds)) {
      server.layer().catalogue().create(DatabaseName.of("w"), TestLayout.OPTIONS);
      for (String feed : new String[] {"longpoll", "continuous"}) {
        try (Connection client = server.connect()) {
          client.write(
              "GET /w/_changes?heartbeat=10000&feed=" + feed + " HTTP/1.1\r\nHost: h\r\n\r\n");
          client.readHead();
          Await.until("it listens", () -> !server.listeners().databases().isEmpty());
        }
        Await.until("nobody listens", () -> server.listeners().databases().isEmpty());
      }
    }
  }

  /** A server whose listeners and queues a test can see, without executors that empty them. */
  static final class BareServer implements AutoCloseable {
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
      layer = new Layer(store, settings, () -> false);
      List<WriteQueue> queues =
          IntStream.range(0, bounds.executors())
              .mapToObj(number -> new WriteQueue(bounds))
              .toList();
      UpdateAnnouncer announcer = new UpdateAnnouncer(listeners, Optional.empty());
      WriteRouter writes =
          new WriteRouter(
              vertx.eventBus(),
              queues,
              bounds.batchEdits(),
              Duration.ofSeconds(settings.http().requests().requestSeconds()));
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
              new HttpCaller(vertx, settings.replicator().client()),
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
      return (int) services.perRequest().figures().deliveries().listeners();
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

  private record Cost(long reads, long looks) {}

  @Test
  void four_times_as_many_cost_at_most_twice_as_much() {
    Cost few = cost(16);
    Cost many = cost(64);

    assertThat(many.reads() - 64 * many.looks()).isLessThanOrEqualTo(2 * few.reads());
  }

  private static Cost cost(int shards) {
    CountedReads counted = new CountedReads(stores.fresh());
    TestSettings settings =
        new TestSettings().polls(new PollSettings(Duration.ofHours(1), Duration.ofHours(1)));
    List<Connection> readers = new ArrayList<>();
    try (LectusServer server = LectusServer.start(counted.store(), settings)) {
      server.put("/w?changes_shards=" + shards);
      for (int shard = 0; shard < shards; shard++) {
        Connection reader =
            server
                .request("GET", "/w/_changes/" + shard + "?feed=continuous&heartbeat=60000")
                .open();
        reader.readHead();
        readers.add(reader);
      }
      haveEachReadOne(server, readers);
      long start = System.nanoTime();
      long reads = counted.reads();
      for (int i = 0; i < WRITES; i++) {
        write(server, readers, "w" + i);
      }
      long looks = 1 + (System.nanoTime() - start) / LOOK_NANOS;
      return new Cost(counted.reads() - reads, looks);
    } finally {
      readers.forEach(Connection::close);
    }
  }

  /** After that all of them are live. */
  private static void haveEachReadOne(LectusServer server, List<Connection> readers) {
    boolean[] seen = new boolean[readers.size()];
    int left = readers.size();
    for (int i = 0; left > 0; i++) {
      int shard = HashScheme.JUMP_CRC32.shardOf("s" + i, readers.size());
      if (!seen[shard]) {
        seen[shard] = true;
        left--;
        write(server, readers, "s" + i);
      }
    }
  }

  private static void write(LectusServer server, List<Connection> readers, String id) {
    server.write("/w/" + id, "{}");
    Connection reader = readers.get(HashScheme.JUMP_CRC32.shardOf(id, readers.size()));
    assertThat(reader.chunkText()).contains("\"id\":\"" + id + "\"");
  }
}
