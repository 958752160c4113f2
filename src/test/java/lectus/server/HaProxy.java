package lectus.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.clients.NodeClients;
import lectus.http.testing.Answer;
import lectus.http.testing.FreePorts;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.testing.Await;

/** The real load balancer, with docker/haproxy.cfg, in front of servers of this process. */
final class HaProxy implements AutoCloseable {
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
    String text = replaced(Files.readString(CONFIGURATION), "bind :5984", "bind 127.0.0.1:" + port);
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
