package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import lectus.abuse.ServerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Through how many classes one warm request runs, the set-up of its connection included. The
 * numbers may fall and must not rise.
 */
class RequestClassesTest {
  /**
   * @param files classes that stand in files of their own
   * @param types classes with those that are nested in others
   */
  private record Way(int files, int types, int calls) {}

  private static final Map<String, Way> LIMITS =
      Map.of(
          "PUT", new Way(166, 230, 2_700),
          "GET", new Way(92, 121, 620),
          "_changes", new Way(138, 210, 2_280),
          "_find", new Way(162, 252, 4_300));

  private static final int WARM = 50;

  /** Requests that are counted: what a timer does meanwhile is not in all of them. */
  private static final int COUNTED = 5;

  /** So many looks that find nothing in turn: the request is over. */
  private static final int QUIET = 10;

  private String address;
  private int documents;

  @Test
  void a_warm_request_runs_through_few_classes(@TempDir Path folder) throws Exception {
    Map<String, Way> found = new HashMap<>();
    try (ServerSocket agent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String option = "-javaagent:" + jar(folder) + "=" + agent.getLocalPort();
      try (ServerProcess server =
              ServerProcess.start(
                  folder, 512, Map.of("JAVA_TOOL_OPTIONS", option), "http.hosts=127.0.0.1");
          Socket counts = agent.accept()) {
        address = "http://127.0.0.1:" + server.port() + "/db";
        ask(request("").PUT(BodyPublishers.noBody()));
        ask(request("/hot").PUT(BodyPublishers.ofString("{\"a\":1}")));
        found.put("PUT", measure(counts, null));
        found.put("GET", measure(counts, request("/hot")));
        found.put("_changes", measure(counts, request("/_changes?limit=1")));
        found.put(
            "_find",
            measure(
                counts,
                request("/_find")
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"selector\":{\"a\":1},\"limit\":1}"))));
      }
    }
    found.forEach((name, way) -> System.out.println(name + " " + way));
    assertThat(found)
        .hasSameSizeAs(LIMITS)
        .allSatisfy(
            (name, way) -> {
              assertThat(way.files()).as(name).isBetween(1, LIMITS.get(name).files());
              assertThat(way.types()).as(name).isBetween(1, LIMITS.get(name).types());
              assertThat(way.calls()).as(name).isBetween(1, LIMITS.get(name).calls());
            });
  }

  /**
   * @param request null: a PUT of a new document each time
   */
  private Way measure(Socket counts, HttpRequest.Builder request) throws Exception {
    for (int i = 0; i < WARM; i++) {
      ask(request == null ? put() : request);
    }
    settle(counts);
    Map<String, Integer> least = new TreeMap<>();
    for (int round = 0; round < COUNTED; round++) {
      ask(request == null ? put() : request);
      Map<String, Integer> entered = settle(counts);
      if (round == 0) {
        least.putAll(entered);
      }
      least.keySet().retainAll(entered.keySet());
      least.replaceAll((type, calls) -> Math.min(calls, entered.get(type)));
    }
    Set<String> files =
        least.keySet().stream()
            .map(name -> name.replaceAll("\\$.*", ""))
            .collect(Collectors.toSet());
    return new Way(
        files.size(), least.size(), least.values().stream().mapToInt(Integer::intValue).sum());
  }

  /** What was entered since the last time, and goes on being entered after the answer. */
  private static Map<String, Integer> settle(Socket counts) throws IOException {
    Map<String, Integer> entered = new TreeMap<>();
    int quiet = 0;
    while (quiet < QUIET) {
      Map<String, Integer> more = next(counts);
      more.forEach((type, calls) -> entered.merge(type, calls, Integer::sum));
      quiet = more.isEmpty() ? quiet + 1 : 0;
    }
    return entered;
  }

  private static Map<String, Integer> next(Socket counts) throws IOException {
    OutputStream out = counts.getOutputStream();
    out.write('\n');
    out.flush();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(counts.getInputStream(), StandardCharsets.UTF_8));
    Map<String, Integer> entered = new HashMap<>();
    for (String line = lines.readLine(); !line.isEmpty(); line = lines.readLine()) {
      String[] parts = line.split(" ");
      entered.put(parts[0], Integer.parseInt(parts[1]));
    }
    return entered;
  }

  /** The agent's class is on the server's class path; its jar only names it. */
  private static Path jar(Path folder) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", EnteredMethods.class.getName());
    Path jar = folder.resolve("agent.jar");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return jar;
  }

  private HttpRequest.Builder put() {
    return request("/d" + documents++).PUT(BodyPublishers.ofString("{\"a\":1,\"b\":[1,2]}"));
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(address + path));
  }

  /** Over a connection of its own. */
  private static void ask(HttpRequest.Builder request) throws Exception {
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    assertThat(client.send(request.build(), BodyHandlers.discarding()).statusCode())
        .isLessThan(300);
  }
}
