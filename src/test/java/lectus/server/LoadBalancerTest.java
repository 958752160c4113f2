package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.account.Admins;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.clients.NodeClients;
import lectus.config.ProxyKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.FreePorts;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.LogLines;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Three servers of one store behind the load balancer of docker/compose.yaml. */
final class LoadBalancerTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final PollSettings OFTEN =
      new PollSettings(Duration.ofMillis(50), Duration.ofMillis(50));

  /** A feed is silent for longer than a plain answer may be. */
  private static final String FEED = "/w/_changes?feed=continuous&heartbeat=2500&since=";

  private static final String PLAIN_SECONDS = "1s";

  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");
  private static final Pattern END = Pattern.compile("\"last_seq\":\"([^\"]*)\"");

  @TempDir private Path folder;

  private final Store store = stores.fresh();
  private final List<LectusServer> servers =
      new ArrayList<>(Stream.generate(this::start).limit(3).toList());
  @AutoClose private final LogLines log = LogLines.of("lectus.access");

  @BeforeAll
  static void need() throws InterruptedException {
    HaProxy.need();
  }

  @BeforeEach
  void prepare() {
    servers.get(0).put("/w");
  }

  @AfterEach
  void stop() {
    stopServers(servers.size());
  }

  /** Stops so many servers, the first ones. */
  private void stopServers(int number) {
    List<LectusServer> first = servers.subList(0, number);
    first.forEach(LectusServer::close);
    first.clear();
  }

  private LectusServer start() {
    TestSettings settings =
        new TestSettings().polls(OFTEN).with(ProxyKeys.TRUSTED_PROXIES, "127.0.0.1");
    return LectusServer.start(store, settings);
  }

  private HaProxy balancer() throws IOException {
    return balancer(UnaryOperator.identity());
  }

  /** Plain answers may be silent for a second, and servers are looked at five times a second. */
  private HaProxy balancer(UnaryOperator<String> changes) throws IOException {
    return new HaProxy(
        folder,
        servers,
        text -> {
          String quick = HaProxy.replaced(text, "timeout client 60s", "timeout client 1s");
          quick = HaProxy.replaced(quick, "timeout server 60s", "timeout server " + PLAIN_SECONDS);
          quick = HaProxy.replaced(quick, "check inter 2s", "check inter 200ms");
          return changes.apply(quick);
        });
  }

  private static Connection feed(HaProxy balancer) {
    return feed(balancer, "now");
  }

  private static Connection feed(HaProxy balancer, String since) {
    Connection feed = new Request(balancer.port(), "GET", FEED + since).open();
    feed.readHead().expect(200);
    return feed;
  }

  @Test
  void feeds_and_sockets_outlive_the_time_that_plain_answers_have() throws IOException {
    try (HaProxy balancer = balancer();
        SocketClient socket = SocketClient.connect(balancer.port(), "/w/_changes?since=now");
        Connection feed = feed(balancer)) {
      assertThat(feed.chunkText()).isEqualTo("\n");
      servers.get(0).write("/w/a", "{}");

      assertThat(feed.chunkText()).contains("\"id\":\"a\"");
      assertThat(socket.text()).contains("\"id\":\"a\"");
    }
  }

  @Test
  void without_the_times_for_feeds_and_sockets_they_are_cut_off() throws IOException {
    UnaryOperator<String> forgetful =
        text ->
            HaProxy.replaced(
                text.replace("http-request set-timeout server", "#"),
                "timeout tunnel 1h",
                "timeout tunnel " + PLAIN_SECONDS);
    try (HaProxy balancer = balancer(forgetful);
        SocketClient socket = SocketClient.connect(balancer.port(), "/w/_changes?since=now");
        Connection feed = feed(balancer)) {
      assertThatThrownBy(feed::chunkText).isInstanceOf(UncheckedIOException.class);
      Await.until("the socket is closed", socket::isClosed);
    }
  }

  @Test
  void a_server_that_stops_is_taken_out_and_nobody_is_refused() throws IOException {
    try (HaProxy balancer = balancer()) {
      servers.get(0).write("/w/a", "{}");
      LectusServer leaving = servers.remove(0);
      CompletableFuture<Void> stopped = CompletableFuture.runAsync(leaving::close);
      while (!stopped.isDone() || balancer.activeServers() > 2) {
        balancer.get("/w/a").expect(200);
        new Request(balancer.port(), "POST", "/w").json("{}").send().expect(201);
      }
      stopped.join();
      balancer.get("/w/a").expect(200);
      stopServers(2);
      Await.until("none is left", () -> balancer.activeServers() == 0);
      Answer none = balancer.get("/_up").expect(503);
      assertThat(none.header("retry-after")).isEqualTo("5");
      assertThat(none.header("content-type")).isEqualTo("application/json");
      none.expect("{\"error\":\"service_unavailable\",\"reason\":\"No server can be reached.\"}\n");
    }
  }

  /** Wherever its feed is: a server that stops tells it where to go on. */
  @Test
  void a_follower_of_changes_misses_nothing_while_servers_stop() throws IOException {
    try (HaProxy balancer = balancer()) {
      Connection feed = feed(balancer);
      LectusServer last = servers.get(2);
      last.write("/w/a", "{}");
      stopServers(1);
      last.write("/w/b", "{}");
      stopServers(1);
      last.write("/w/c", "{}");

      List<String> ids = new ArrayList<>();
      while (ids.size() < 3) {
        String text = feed.chunkText();
        ID.matcher(text).results().forEach(id -> ids.add(id.group(1)));
        Matcher end = END.matcher(text);
        if (end.find()) {
          feed.close();
          feed = feed(balancer, end.group(1));
        }
      }
      feed.close();
      assertThat(ids).containsExactly("a", "b", "c");
    }
  }

  @Test
  void a_log_in_through_one_server_is_good_for_all() throws IOException {
    new Admins(store).put("ann", Admins.hashOf("secret", 10));
    // A server learns within half a second that there is an admin.
    for (LectusServer server : servers) {
      Await.until("it wants a log-in", () -> server.put("/w").status() == 401);
    }
    try (HaProxy balancer = balancer()) {
      Answer granted =
          new Request(balancer.port(), "POST", "/_session")
              .json("{\"name\":\"ann\",\"password\":\"secret\"}")
              .send()
              .expect(200);
      String cookie = granted.header("set-cookie").split(";")[0];
      // And within as much of the key that cookies are signed with.
      for (LectusServer server : servers) {
        Await.until("it knows her", () -> nameOf(server.request("GET", "/_session"), cookie));
      }
      assertThat(nameOf(new Request(balancer.port(), "GET", "/_session"), cookie)).isTrue();
    }
  }

  private static boolean nameOf(Request request, String cookie) {
    return request.header("Cookie", cookie).send().body().contains("\"name\":\"ann\"");
  }

  /** All addresses of 127.0.0.0/8 are this machine. */
  @Test
  void servers_learn_the_address_of_each_client_and_nothing_that_it_pretends() throws IOException {
    try (HaProxy balancer = balancer()) {
      Socket socket = new Socket();
      socket.bind(new InetSocketAddress("127.0.0.9", 0));
      socket.connect(new InetSocketAddress("127.0.0.1", balancer.port()));
      try (Connection connection = new Connection(socket)) {
        Request request =
            new Request(balancer.port(), "PUT", "/w/x")
                .header("X-Forwarded-For", "192.0.2.1")
                .header("X-Forwarded-Ssl", "on")
                .header("X-Forwarded-Proto", "https")
                .header("X-Forwarded-Host", "elsewhere.example")
                .header("Forwarded", "for=192.0.2.2;proto=https");
        Answer answer = connection.write(request.json("{}").bytes()).read(false);
        assertThat(answer.header("location")).isEqualTo("http://host/w/x");
      }
    }
    stopServers(3);
    assertThat(log.messages().stream())
        .anyMatch(lines -> lines.contains(" path=/w/x ") && lines.contains(" client=127.0.0.9 "));
  }

  /** The real load balancer, with docker/haproxy.cfg, in front of servers of this process. */
  private static final class HaProxy implements AutoCloseable {
    static final Path CONFIGURATION = Path.of("docker", "haproxy.cfg");

    private static final Pattern ACTIVE =
        Pattern.compile("(?m)^haproxy_backend_active_servers\\{proxy=\"lectus\"} (\\d+)");

    private final int port = FreePorts.one();
    private final int figures = FreePorts.one();
    private final Process process;

    /**
     * Returns once it counts all the servers.
     *
     * @param changes made to the configuration, besides addresses
     */
    HaProxy(Path folder, List<LectusServer> servers, UnaryOperator<String> changes)
        throws IOException {
      String text =
          replaced(Files.readString(CONFIGURATION), "bind :5984", "bind 127.0.0.1:" + port);
      text = replaced(text, "bind :8404", "bind 127.0.0.1:" + figures);
      for (int i = 0; i < servers.size(); i++) {
        String name = "server lectus-" + (i + 1) + " ";
        text = replaced(text, name + "lectus-" + (i + 1) + ":5984", name + address(servers.get(i)));
      }
      Path file = Files.writeString(folder.resolve("haproxy.cfg"), changes.apply(text));
      process =
          new ProcessBuilder("haproxy", "-db", "-f", file.toString())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("haproxy.log").toFile())
              .start();
      Await.until("it counts all servers", () -> activeServers() == servers.size());
    }

    /** Skips the test where the program is missing, unless that is forbidden. */
    static void need() throws InterruptedException {
      NodeClients.need(NodeClients.runs("haproxy", "-v"), "HAProxy is not installed");
    }

    /** Replaces what must be there. */
    static String replaced(String text, String from, String to) {
      if (!text.contains(from)) {
        throw new AssertionError("There is no " + from);
      }
      return text.replace(from, to);
    }

    private static String address(LectusServer server) {
      return "127.0.0.1:" + server.port();
    }

    int port() {
      return port;
    }

    Answer get(String target) {
      return new Request(port, "GET", target).send();
    }

    /** Returns how many servers get requests; 0 as long as it does not listen. */
    int activeServers() {
      if (!process.isAlive()) {
        throw new AssertionError("HAProxy has ended");
      }
      try {
        Matcher active = ACTIVE.matcher(new Request(figures, "GET", "/metrics").send().body());
        return active.find() ? Integer.parseInt(active.group(1)) : 0;
      } catch (UncheckedIOException early) {
        return 0;
      }
    }

    @Override
    public void close() {
      process.destroy();
      try {
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
