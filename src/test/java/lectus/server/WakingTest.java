package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import lectus.changes.notify.DatabaseEvent;
import lectus.changes.notify.EventChannel;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.changes.page.Registration;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue.JsonObject;
import lectus.server.WakingTest.MemoryBus.Fate;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Waking listeners on one server when another one writes: rows never depend on the bus, and the bus
 * alone is enough to wake everybody.
 */
final class WakingTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final PollSettings HOURLY =
      new PollSettings(Duration.ofHours(1), Duration.ofHours(1));
  private static final PollSettings OFTEN =
      new PollSettings(Duration.ofMillis(20), Duration.ofMillis(200));

  private final Store store = stores.fresh();
  private final List<LectusServer> servers = new ArrayList<>();

  @AfterEach
  void stop() {
    servers.forEach(LectusServer::close);
  }

  private LectusServer start(MemoryBus bus, PollSettings polls) {
    NodeSettings settings = new TestSettings().polls(polls).toNode();
    LectusServer server = LectusServer.of(Node.start(settings, () -> store, bus));
    servers.add(server);
    return server;
  }

  private static String lastSequence(LectusServer server) {
    return server.get("/w").member("update_seq");
  }

  /** Every row arrives once, in order, and so does the end when the database is deleted. */
  private void everyRowArrives(Fate fate) {
    MemoryBus bus = new MemoryBus(fate);
    LectusServer one = start(bus, OFTEN);
    LectusServer other = start(bus, OFTEN);
    one.put("/w");
    List<String> written = new ArrayList<>();
    try (ContinuousFeed feed = new ContinuousFeed(one, "w", "0")) {
      for (int i = 0; i < 60; i++) {
        other.write("/w/d" + i, "{}");
        written.add("d" + i);
        if (i % 20 == 19) {
          // The next poll finds what the bus has lost, without further writes.
          List<String> read = new ArrayList<>();
          written.forEach(id -> read.add(feed.nextId()));
          assertThat(read).isEqualTo(written);
          written.clear();
        }
      }
      String last = lastSequence(other);
      other.delete("/w");
      assertThat(feed.next()).isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}");
    }
  }

  @Test
  void every_row_arrives_with_a_bus_that_drops_everything() {
    everyRowArrives(Fate.DROPPED);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void every_row_arrives_with_a_bus_that_drops_delays_doubles_and_reorders(long seed) {
    everyRowArrives(MemoryBus.mangling(seed));
  }

  @Test
  void the_bus_alone_wakes_everybody() {
    MemoryBus bus = new MemoryBus(Fate.FAITHFUL);
    LectusServer writer = start(bus, HOURLY);
    LectusServer one = start(bus, HOURLY);
    LectusServer two = start(bus, HOURLY);
    writer.put("/w");
    try (ContinuousFeed feedOfOne = new ContinuousFeed(one, "w", "0");
        ContinuousFeed feedOfTwo = new ContinuousFeed(two, "w", "now");
        ContinuousFeed besideTheWriter = new ContinuousFeed(writer, "w", "now")) {
      await(bus, 3);
      for (int i = 0; i < 20; i++) {
        writer.write("/w/d" + i, "{}");
        assertThat(feedOfOne.nextId()).isEqualTo("d" + i);
        assertThat(feedOfTwo.nextId()).isEqualTo("d" + i);
        assertThat(besideTheWriter.nextId()).isEqualTo("d" + i);
      }
      writer.delete("/w");
      assertThat(feedOfOne.next()).startsWith("{\"last_seq\"");
      assertThat(feedOfTwo.next()).startsWith("{\"last_seq\"");
      assertThat(besideTheWriter.next()).startsWith("{\"last_seq\"");
    }
  }

  /** A listener to all databases is told of each that moves. */
  private void everyDatabaseIsTold(Fate fate, PollSettings polls) {
    MemoryBus bus = new MemoryBus(fate);
    LectusServer one = start(bus, polls);
    LectusServer other = start(bus, polls);
    try (ContinuousFeed updates =
        new ContinuousFeed(one.port(), "/_db_updates?feed=continuous&heartbeat=5000&since=now")) {
      await(bus, 1);
      for (int i = 0; i < 3; i++) {
        other.put("/w" + i);
        assertThat(updates.next()).contains("\"w" + i + "\"", "\"created\"");
        other.write("/w" + i + "/a", "{}");
        assertThat(updates.next()).contains("\"w" + i + "\"", "\"updated\"");
        other.delete("/w" + i);
        assertThat(updates.next()).contains("\"w" + i + "\"", "\"deleted\"");
      }
    }
  }

  @Test
  void every_database_is_told_with_a_bus_that_drops_everything() {
    everyDatabaseIsTold(Fate.DROPPED, OFTEN);
  }

  @Test
  void the_bus_alone_tells_of_every_database() {
    everyDatabaseIsTold(Fate.FAITHFUL, HOURLY);
  }

  /** A subscription to a pattern is told what is created, written and deleted elsewhere. */
  private void everyMemberOfAPatternIsTold(Fate fate, PollSettings polls) {
    MemoryBus bus = new MemoryBus(fate);
    LectusServer one = start(bus, polls);
    LectusServer other = start(bus, polls);
    try (SocketClient client = SocketClient.connect(one, "/_changes", "lectus.changes.v1")) {
      client.send("{\"type\":\"subscribe\",\"id\":\"a\",\"db\":\"user-*\",\"credits\":100}");
      client.message("caught_up", "at");
      await(bus, 1);
      for (int i = 0; i < 3; i++) {
        other.put("/other" + i);
        other.put("/user-" + i);
        other.write("/other" + i + "/x", "{}");
        other.write("/user-" + i + "/y", "{}");
        assertThat(nextOf(client)).isEqualTo("row user-" + i);
        other.delete("/user-" + i);
        assertThat(nextOf(client)).isEqualTo("left user-" + i);
      }
    }
  }

  /** Returns the type and name of the next message about a database. */
  private static String nextOf(SocketClient client) {
    JsonObject message = client.message();
    while (SocketClient.text(message, "type").equals("caught_up")) {
      message = client.message();
    }
    return SocketClient.text(message, "type") + " " + SocketClient.text(message, "db");
  }

  @Test
  void every_member_of_a_pattern_is_told_with_a_bus_that_drops_everything() {
    everyMemberOfAPatternIsTold(Fate.DROPPED, OFTEN);
  }

  @Test
  void the_bus_alone_tells_of_every_member_of_a_pattern() {
    everyMemberOfAPatternIsTold(Fate.FAITHFUL, HOURLY);
  }

  @Test
  void what_a_poll_finds_is_told_to_the_other_servers() {
    MemoryBus bus = new MemoryBus(Fate.FAITHFUL);
    LectusServer polling = start(bus, OFTEN);
    LectusServer told = start(bus, HOURLY);
    LectusServer mute = start(new MemoryBus(Fate.DROPPED), HOURLY);
    mute.put("/w");
    try (ContinuousFeed feed = new ContinuousFeed(polling, "w", "now");
        ContinuousFeed elsewhere = new ContinuousFeed(told, "w", "now")) {
      await(bus, 2);
      for (int i = 0; i < 5; i++) {
        mute.write("/w/d" + i, "{}");
        assertThat(feed.nextId()).isEqualTo("d" + i);
        assertThat(elsewhere.nextId()).isEqualTo("d" + i);
      }
    }
  }

  @Test
  void the_bus_alone_wakes_a_long_poll() {
    MemoryBus bus = new MemoryBus(Fate.FAITHFUL);
    LectusServer writer = start(bus, HOURLY);
    LectusServer one = start(bus, HOURLY);
    writer.put("/w");
    try (Connection poll = one.request("GET", "/w/_changes?feed=longpoll&heartbeat=5000").open()) {
      poll.readHead();
      await(bus, 1);
      writer.write("/w/a", "{}");

      String rest = "";
      while (!rest.contains("last_seq")) {
        rest += poll.chunkText();
      }
      assertThat(rest).contains("\"id\":\"a\"");
    }
  }

  private static void await(MemoryBus bus, int listeningServers) {
    Await.until("servers listen", () -> bus.listeningServers() >= listeningServers);
  }

  /** Servers in one process that announce changes over a bus that the test controls. */
  static final class MemoryBus implements ClusterMembership {
    private final Set<Subscriber> subscribers = ConcurrentHashMap.newKeySet();
    private final Fate fate;

    private record Subscriber(EventChannel server, int address, Consumer<DatabaseEvent> receiver) {}

    /** Decides over messages. */
    interface Fate {
      Fate FAITHFUL = Runnable::run;
      Fate DROPPED = delivery -> {};

      /** Called by one thread at a time. */
      void meet(Runnable delivery);
    }

    MemoryBus(Fate fate) {
      this.fate = fate;
    }

    /**
     * Loses some messages. The others wait until enough have gathered, then come in any order, some
     * of them twice.
     */
    static Fate mangling(long seed) {
      Random random = new Random(seed);
      List<Runnable> held = new ArrayList<>();
      return delivery -> {
        for (int copies = random.nextInt(3); copies > 0; copies--) {
          held.add(random.nextInt(held.size() + 1), delivery);
        }
        while (held.size() > 5) {
          held.remove(random.nextInt(held.size())).run();
        }
      };
    }

    @Override
    public Vertx join(VertxOptions options, Transport transport) {
      return Vertx.builder().with(options).withTransport(transport).build();
    }

    @Override
    public List<String> members(String self) {
      return List.of(self);
    }

    @Override
    public Optional<EventChannel> channel(Vertx vertx) {
      return Optional.of(
          new EventChannel() {
            @Override
            public void publish(DatabaseEvent event) {
              deliver(this, event);
            }

            @Override
            public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
              Subscriber subscriber = new Subscriber(this, address, receiver);
              subscribers.add(subscriber);
              return () -> subscribers.remove(subscriber);
            }
          });
    }

    private synchronized void deliver(EventChannel sender, DatabaseEvent event) {
      for (Subscriber subscriber : subscribers) {
        if (subscriber.server() != sender && subscriber.address() == event.address()) {
          fate.meet(() -> subscriber.receiver().accept(event));
        }
      }
    }

    /** Returns how many servers subscribed to some address. */
    long listeningServers() {
      return subscribers.stream().map(Subscriber::server).distinct().count();
    }
  }
}
