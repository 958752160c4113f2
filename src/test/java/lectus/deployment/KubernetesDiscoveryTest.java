package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import lectus.http.testing.FreePorts;
import lectus.http.testing.TestCertificate;
import lectus.server.HazelcastCluster;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.store.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members that find each other as in Kubernetes, with conf/cluster-kubernetes.yaml: an API that
 * knows two pods, 127.0.0.1 and 127.0.0.2, answers what the role may read and refuses all else.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "others have no 127.0.0.2")
final class KubernetesDiscoveryTest {
  private static final int FORBIDDEN = 403;

  private static final String SLICES =
      """
      {"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","items":[
        {"metadata":{"name":"lectus-members-x"},"addressType":"IPv4",
         "endpoints":[
           {"addresses":["127.0.0.1"],"conditions":{"ready":false},
            "targetRef":{"kind":"Pod","name":"lectus-1"}},
           {"addresses":["127.0.0.2"],"conditions":{"ready":false},
            "targetRef":{"kind":"Pod","name":"lectus-2"}}],
         "ports":[{"name":"hazelcast","port":5701,"protocol":"TCP"}]}]}
      """;

  private static final String PROPERTIES =
      """
        properties:
          hazelcast.local.localAddress: %s
          hazelcast.socket.bind.any: false
          hazelcast.wait.seconds.before.join: 0
      """;

  @TempDir private Path folder;

  private final Map<String, Integer> asked = new ConcurrentHashMap<>();
  private final List<Vertx> members = new ArrayList<>();
  private HttpServer api;
  private Path authority;

  @BeforeEach
  void startApi() throws IOException {
    authority =
        TestCertificate.create(folder, "authority", "EC")
            .writeCertificate(folder.resolve("authority.pem"));
    api = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    api.createContext("/", this::answer);
    api.start();
  }

  @AfterEach
  void stop() {
    members.forEach(member -> member.close().await());
    api.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    int status = mayBeRead(path) ? 200 : FORBIDDEN;
    asked.put(exchange.getRequestMethod() + " " + path, status);
    String text =
        path.endsWith("/endpointslices")
            ? SLICES
            : "{\"kind\":\"List\",\"items\":[],\"metadata\":{},\"spec\":{},\"reason\":\"Forbidden\"}";
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static boolean mayBeRead(String path) throws IOException {
    Yaml role = KubernetesObjects.read(KubernetesObjects.FOLDER).get("Role", "lectus-members");
    return role.at("rules").items().stream()
        .anyMatch(
            rule ->
                rule.at("resources").texts().stream()
                    .anyMatch(
                        resource ->
                            path.contains("/namespaces/lectus/" + resource)
                                && path.startsWith(prefix(rule.at("apiGroups").texts().get(0)))));
  }

  private static String prefix(String group) {
    return group.isEmpty() ? "/api/v1/" : "/apis/" + group + "/v1/";
  }

  /** The file as it is, with one address and what a pod is told by Kubernetes. */
  private Path configuration(String address, int port) throws IOException {
    Map<String, String> more = new LinkedHashMap<>();
    more.put("kubernetes-master", "http://127.0.0.1:" + api.getAddress().getPort());
    more.put("namespace", "lectus");
    more.put("api-token", "token");
    more.put("ca-certificate", '"' + Files.readString(authority).replace("\n", "\\n") + '"');
    StringBuilder told = new StringBuilder("service-name: lectus-members\n");
    more.forEach((name, value) -> told.append(" ".repeat(8)).append(name + ": " + value + "\n"));
    String text =
        Files.readString(Path.of("conf", "cluster-kubernetes.yaml"))
            .replace("5701", Integer.toString(port))
            .replace("service-name: lectus-members\n", told)
            .concat(PROPERTIES.formatted(address));
    return Files.writeString(folder.resolve(address + ".yaml"), text);
  }

  private HazelcastCluster join(String address, int port) throws IOException {
    ClusterSettings settings = new ClusterSettings(Optional.of(configuration(address, port)), 0);
    HazelcastCluster cluster = new HazelcastCluster(settings);
    members.add(cluster.join(new VertxOptions(), Transport.NIO));
    return cluster;
  }

  @Test
  void members_find_each_other_with_the_rights_of_their_role() throws IOException {
    int port = FreePorts.one();
    HazelcastCluster one = join("127.0.0.1", port);
    HazelcastCluster two = join("127.0.0.2", port);

    Await.until("both are members", () -> one.members("").size() == 2);
    assertThat(two.members(""))
        .containsExactly("lectus@127.0.0.1:" + port, "lectus@127.0.0.2:" + port);
    assertThat(asked)
        .containsEntry("GET /apis/discovery.k8s.io/v1/namespaces/lectus/endpointslices", 200);
    // In which zone a node is matters to members that keep data.
    assertThat(asked.keySet())
        .filteredOn(request -> asked.get(request) == FORBIDDEN)
        .allMatch(request -> request.startsWith("GET /api/v1/nodes/"));
  }
}
