package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.hazelcast.config.Config;
import com.hazelcast.config.KubernetesConfig;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1CronJob;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Role;
import io.kubernetes.client.openapi.models.V1RoleBinding;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.kubernetes.client.openapi.models.V2HorizontalPodAutoscaler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.config.ClusterKeys;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.MetricsKeys;
import lectus.config.StoreKeys;
import lectus.http.testing.FreePorts;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestCertificate;
import lectus.server.HazelcastCluster;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.ParseResult;

/** The files for Kubernetes, as far as that goes without a cluster. */
final class KubernetesTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** An orderly stop takes as long as running requests may, and a minute for all other steps. */
  private static final int BEYOND_REQUESTS_SECONDS = 60;

  private static final Path CLUSTER = Path.of("conf", "cluster-kubernetes.yaml");

  private final KubernetesObjects objects;

  /** The objects that conf/kubernetes describes. */
  private static final class KubernetesObjects {
    static final Path FOLDER = Path.of("conf", "kubernetes");
    static final Path SINGLE = FOLDER.resolve("single");
    static final Path BACKUP = FOLDER.resolve("backup");
    static final String KUSTOMIZATION = "kustomization.yaml";

    private static final Map<String, Model> MODELS =
        Map.ofEntries(
            Map.entry("v1 ConfigMap", V1ConfigMap::validateJsonElement),
            Map.entry("apps/v1 StatefulSet", V1StatefulSet::validateJsonElement),
            Map.entry("v1 Service", V1Service::validateJsonElement),
            Map.entry("v1 ServiceAccount", V1ServiceAccount::validateJsonElement),
            Map.entry("apps/v1 Deployment", V1Deployment::validateJsonElement),
            Map.entry(
                "autoscaling/v2 HorizontalPodAutoscaler",
                V2HorizontalPodAutoscaler::validateJsonElement),
            Map.entry("networking.k8s.io/v1 NetworkPolicy", V1NetworkPolicy::validateJsonElement),
            Map.entry("policy/v1 PodDisruptionBudget", V1PodDisruptionBudget::validateJsonElement),
            Map.entry("rbac.authorization.k8s.io/v1 Role", V1Role::validateJsonElement),
            Map.entry(
                "rbac.authorization.k8s.io/v1 RoleBinding", V1RoleBinding::validateJsonElement),
            Map.entry("batch/v1 CronJob", V1CronJob::validateJsonElement),
            Map.entry("v1 PersistentVolumeClaim", V1PersistentVolumeClaim::validateJsonElement));

    private final List<Yaml> all;

    private KubernetesObjects(List<Yaml> all) {
      this.all = all;
    }

    private interface Model {
      /**
       * @throws RuntimeException a member that Kubernetes does not know, or one that is missing or
       *     of another type
       */
      void validate(JsonElement object) throws IOException;
    }

    static KubernetesObjects read(Path folder) throws IOException {
      List<Yaml> all = new ArrayList<>();
      for (String file : files(folder)) {
        all.addAll(Yaml.all(folder.resolve(file)));
      }
      return new KubernetesObjects(all);
    }

    /** Returns the names of the files, but for the one that lists them. */
    static List<String> files(Path folder) throws IOException {
      try (Stream<Path> files = Files.list(folder)) {
        return files
            .filter(Files::isRegularFile)
            .map(file -> file.getFileName().toString())
            .filter(name -> !name.equals(KUSTOMIZATION))
            .sorted()
            .toList();
      }
    }

    static void validate(Yaml object) throws IOException {
      String kind = object.at("apiVersion").text() + " " + object.at("kind").text();
      Model model = MODELS.get(kind);
      if (model == null) {
        throw new IllegalArgumentException("No model of " + kind);
      }
      model.validate(new Gson().toJsonTree(object.value()));
    }

    List<Yaml> all() {
      return all;
    }

    Yaml get(String kind, String name) {
      return all.stream()
          .filter(it -> it.at("kind").text().equals(kind))
          .filter(it -> it.at("metadata", "name").text().equals(name))
          .findFirst()
          .orElseThrow(() -> new AssertionError("There is no " + kind + " " + name));
    }

    Yaml only(String kind) {
      return get(kind, "lectus");
    }

    Yaml pod() {
      return only("Deployment").at("spec", "template", "spec");
    }

    Yaml container() {
      return pod().at("containers").items().get(0);
    }
  }

  KubernetesTest() throws IOException {
    objects = KubernetesObjects.read(KubernetesObjects.FOLDER);
  }

  private Served served() {
    return Served.by(objects.container().at("args").texts(), Map.of());
  }

  @Test
  void kubernetes_knows_every_member_of_every_object() throws IOException {
    assertThat(objects.all()).hasSizeGreaterThan(5);
    for (Yaml object : objects.all()) {
      KubernetesObjects.validate(object);
    }
    for (Path folder : List.of(KubernetesObjects.SINGLE, KubernetesObjects.BACKUP)) {
      for (Yaml object : KubernetesObjects.read(folder).all()) {
        KubernetesObjects.validate(object);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {selectors: {a: b}}}",
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: [{portt: 1}]}}",
        "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {ports: {port: 1}}}",
        "{apiVersion: v2, kind: Service, metadata: {name: x}}"
      })
  void a_mistake_would_be_found(String object) {
    assertThatThrownBy(() -> KubernetesObjects.validate(Yaml.of(object)))
        .isInstanceOf(RuntimeException.class);
  }

  /** A tag that names no version has another image tomorrow. */
  @Test
  void kustomizations_list_every_file_and_images_are_pulled_as_their_tags_say() throws IOException {
    for (Path folder :
        List.of(KubernetesObjects.FOLDER, KubernetesObjects.SINGLE, KubernetesObjects.BACKUP)) {
      Yaml list = Yaml.of(folder.resolve(KubernetesObjects.KUSTOMIZATION));
      assertThat(list.at("resources").texts())
          .containsExactlyInAnyOrderElementsOf(KubernetesObjects.files(folder));
      assertThat(list.at("images").items().get(0).at("newTag").text()).isEqualTo("latest");
    }
    assertThat(objects.container().at("imagePullPolicy").text()).isEqualTo("Always");
    assertThat(single("containers").items().get(0).at("imagePullPolicy").text())
        .isEqualTo("Always");
  }

  private static Yaml single(String member) throws IOException {
    return KubernetesObjects.read(KubernetesObjects.SINGLE)
        .only("StatefulSet")
        .at("spec", "template", "spec", member);
  }

  /** What is like the Deployment's is said there. */
  @Test
  void a_single_server_keeps_its_data_in_a_volume_and_has_what_the_others_have()
      throws IOException {
    Yaml set = KubernetesObjects.read(KubernetesObjects.SINGLE).only("StatefulSet").at("spec");
    Yaml container = single("containers").items().get(0);
    Map<String, String> environment = Dockerfile.read().environment();
    Yaml data = container.at("env").items().get(0);
    environment.put(data.at("name").text(), data.at("value").text());
    Served served = Served.by(container.at("args").texts(), environment);

    served.assertUsable();
    assertThat(served.needsAnAdmin()).isTrue();
    assertThat(set.at("replicas").number()).isEqualTo(1);
    Yaml mount = container.at("volumeMounts").items().get(0);
    assertThat(Path.of(served.get(StoreKeys.DATA)).getParent().toString())
        .isEqualTo(mount.at("mountPath").text());
    assertThat(set.at("volumeClaimTemplates").items().get(0).at("metadata", "name").text())
        .isEqualTo(mount.at("name").text());
    assertThat(portsOf(container, "containerPort"))
        .isEqualTo(
            Map.of(
                "http", served.get(ListenKeys.PORT),
                "figures", served.get(MetricsKeys.METRICS_PORT)));
    for (String same :
        List.of("startupProbe", "readinessProbe", "livenessProbe", "lifecycle", "envFrom")) {
      assertThat(container.at(same)).isEqualTo(objects.container().at(same));
    }
    assertThat(container.at("securityContext"))
        .isEqualTo(objects.container().at("securityContext"));
    assertThat(single("terminationGracePeriodSeconds"))
        .isEqualTo(objects.pod().at("terminationGracePeriodSeconds"));
    assertThat(single("enableServiceLinks").value()).isEqualTo(false);
    assertThat(single("securityContext").at("fsGroup").number()).isEqualTo(5984);
  }

  @Test
  void backups_are_made_with_flags_of_lectus_and_as_the_admin_of_the_secret() throws IOException {
    Yaml pod =
        KubernetesObjects.read(KubernetesObjects.BACKUP)
            .get("CronJob", "lectus-backup")
            .at("spec", "jobTemplate", "spec", "template", "spec");
    Yaml container = pod.at("containers").items().get(0);
    ParseResult command = Served.backup(container.at("args").texts());

    assertThat(command.matchedOptionValue("--url", URI.create("")))
        .hasHost(objects.only("Service").at("metadata", "name").text())
        .hasPort(served().get(ListenKeys.PORT));
    Yaml mount = container.at("volumeMounts").items().get(0);
    assertThat(command.matchedOptionValue("--to", Path.of("")))
        .isEqualTo(Path.of(mount.at("mountPath").text()));
    assertThat(pod.at("volumes").items().get(0).at("persistentVolumeClaim", "claimName").text())
        .isEqualTo("lectus-backup");
    assertThat(container.at("envFrom")).isEqualTo(objects.container().at("envFrom"));
    assertThat(container.at("securityContext"))
        .isEqualTo(objects.container().at("securityContext"));
    assertThat(pod.at("securityContext")).isEqualTo(single("securityContext"));
    assertThat(pod.at("enableServiceLinks").value()).isEqualTo(false);
  }

  @Test
  void the_arguments_are_flags_and_keys_of_lectus() {
    List<String> here = new ArrayList<>(objects.container().at("args").texts());
    here.add("--set=cluster.config=" + CLUSTER);

    Served.by(here, Map.of()).assertUsable();
    assertThat(served().get(StoreKeys.STORE)).isEqualTo("foundationdb");
    assertThat(served().get(ClusterKeys.CLUSTER)).isTrue();
  }

  @Test
  void no_server_starts_without_an_admin_who_comes_from_a_secret() throws IOException {
    assertThat(served().needsAnAdmin()).isTrue();
    assertThat(objects.container().at("envFrom").items())
        .extracting(it -> it.at("secretRef", "name").text())
        .containsExactly("lectus-admin");
    assertThat(Files.readString(KubernetesObjects.FOLDER.resolve(KubernetesObjects.KUSTOMIZATION)))
        .contains("generic lectus-admin", "COUCHDB_USER=", "COUCHDB_PASSWORD=")
        .contains("generic lectus-foundationdb", "fdb.cluster=");
  }

  /** A service of this name would set LECTUS_PORT and others, which are keys or refused. */
  @Test
  void kubernetes_sets_no_variables_of_its_own() {
    assertThat(objects.pod().at("enableServiceLinks").value()).isEqualTo(false);
    assertThatThrownBy(
            () ->
                Served.by(
                    objects.container().at("args").texts(),
                    Map.of("LECTUS_PORT", "tcp://10.0.0.1:5984")))
        .hasMessageContaining("LECTUS_PORT");
  }

  @Test
  void the_ports_of_containers_are_those_that_servers_listen_on() throws IOException {
    assertThat(portsOf(objects.container(), "containerPort"))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "http", served().get(ListenKeys.PORT),
                "figures", served().get(MetricsKeys.METRICS_PORT),
                "events", served().get(ClusterKeys.CLUSTER_EVENT_PORT),
                "hazelcast", cluster().getNetworkConfig().getPort()));
  }

  private static Map<String, Integer> portsOf(Yaml parent, String number) {
    return parent.at("ports").items().stream()
        .collect(Collectors.toMap(it -> it.at("name").text(), it -> it.at(number).number()));
  }

  private static Config cluster() throws IOException {
    return Config.loadFromFile(CLUSTER.toFile());
  }

  @ParameterizedTest
  @ValueSource(strings = {"lectus", "lectus-members"})
  void services_lead_to_the_ports_of_pods(String name) {
    Yaml spec = objects.get("Service", name).at("spec");

    assertThat(spec.at("selector").map()).isEqualTo(labels());
    for (Yaml port : spec.at("ports").items()) {
      assertThat(port.at("targetPort").text()).isEqualTo(port.at("name").text());
      assertThat(portsOf(objects.container(), "containerPort"))
          .containsEntry(port.at("name").text(), port.at("port").number());
    }
  }

  private Map<String, Object> labels() {
    return objects.only("Deployment").at("spec", "template", "metadata", "labels").map();
  }

  @Test
  void all_selectors_find_the_pods() {
    Yaml deployment = objects.only("Deployment").at("spec");

    assertThat(deployment.at("selector", "matchLabels").map()).isEqualTo(labels());
    assertThat(objects.only("PodDisruptionBudget").at("spec", "selector", "matchLabels").map())
        .isEqualTo(labels());
    assertThat(objects.only("NetworkPolicy").at("spec", "podSelector", "matchLabels").map())
        .isEqualTo(labels());
    Yaml target = objects.only("HorizontalPodAutoscaler").at("spec", "scaleTargetRef");
    assertThat(target.map())
        .isEqualTo(Map.of("apiVersion", "apps/v1", "kind", "Deployment", "name", "lectus"));
  }

  @Test
  void members_find_each_other_by_the_headless_service_in_parallel() throws IOException {
    KubernetesConfig kubernetes = cluster().getNetworkConfig().getJoin().getKubernetesConfig();
    Yaml members = objects.get("Service", kubernetes.getProperty("service-name"));

    assertThat(kubernetes.isEnabled()).isTrue();
    assertThat(members.at("spec", "clusterIP").text()).isEqualTo("None");
    assertThat(members.at("spec", "publishNotReadyAddresses").value()).isEqualTo(true);
    assertThat(portsOf(members.at("spec"), "port"))
        .containsEntry("hazelcast", Integer.valueOf(kubernetes.getProperty("service-port")));
    assertThat(
            Yaml.of(objects.get("ConfigMap", "lectus-cluster").at("data", "cluster.yaml").text()))
        .isEqualTo(Yaml.of(CLUSTER));
  }

  @Test
  void members_may_read_what_hazelcast_asks_for_and_nothing_else() {
    String account = objects.pod().at("serviceAccountName").text();
    Yaml binding = objects.get("RoleBinding", "lectus-members");
    Yaml role = objects.get("Role", binding.at("roleRef", "name").text());

    assertThat(objects.get("ServiceAccount", account)).isNotNull();
    assertThat(binding.at("subjects").items())
        .extracting(Yaml::map)
        .containsExactly(Map.of("kind", "ServiceAccount", "name", account));
    assertThat(role.at("rules").items())
        .allSatisfy(rule -> assertThat(rule.at("verbs").texts()).containsExactly("get", "list"))
        .flatExtracting(rule -> rule.at("resources").texts())
        .containsExactlyInAnyOrder("endpoints", "pods", "services", "endpointslices");
  }

  @Test
  void what_is_mounted_is_where_the_arguments_say() {
    Map<String, String> mounts =
        objects.container().at("volumeMounts").items().stream()
            .collect(Collectors.toMap(it -> it.at("name").text(), it -> it.at("mountPath").text()));

    assertThat(served().get(ClusterKeys.CLUSTER_CONFIG))
        .isEqualTo(mounts.get("cluster") + "/cluster.yaml");
    assertThat(served().get(StoreKeys.CLUSTER_FILE))
        .isEqualTo(mounts.get("foundationdb") + "/fdb.cluster");
    assertThat(objects.pod().at("volumes").items())
        .extracting(it -> it.at("name").text())
        .containsExactlyInAnyOrderElementsOf(mounts.keySet());
  }

  @Test
  void a_pod_has_time_to_stop_in_order() {
    int pause =
        Integer.parseInt(
            objects.container().at("lifecycle", "preStop", "exec", "command").texts().get(1));

    assertThat(objects.pod().at("terminationGracePeriodSeconds").number())
        .isEqualTo(pause + served().get(HttpKeys.STOP_SECONDS) + BEYOND_REQUESTS_SECONDS);
  }

  @ParameterizedTest
  @CsvSource({
    "startupProbe, /_up, http",
    "readinessProbe, /_up, http",
    "livenessProbe, /metrics, figures"
  })
  void probes_ask_for_what_servers_answer(String probe, String path, String port) {
    Yaml asked = objects.container().at(probe, "httpGet");

    assertThat(asked.map()).isEqualTo(Map.of("path", path, "port", port));
  }

  @Test
  void a_server_answers_the_probes_path() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      server.get("/_up").expect(200);
    }
  }

  @Test
  void the_autoscaler_goes_by_a_figure_that_there_is() throws IOException {
    Yaml first = objects.only("HorizontalPodAutoscaler").at("spec", "metrics").items().get(0);

    assertThat(Files.readAllLines(Path.of("src/test/resources/metrics/names.txt")))
        .contains(first.at("pods", "metric", "name").text() + " gauge");
  }

  @Test
  void pods_are_confined() throws IOException {
    Yaml pod = objects.pod().at("securityContext");
    Yaml container = objects.container().at("securityContext");

    assertThat(pod.at("runAsNonRoot").value()).isEqualTo(true);
    assertThat(pod.at("runAsUser").text() + ":" + pod.at("runAsGroup").text())
        .isEqualTo(Dockerfile.read().last("USER").text());
    assertThat(pod.at("seccompProfile", "type").text()).isEqualTo("RuntimeDefault");
    assertThat(container.at("allowPrivilegeEscalation").value()).isEqualTo(false);
    assertThat(container.at("readOnlyRootFilesystem").value()).isEqualTo(true);
    assertThat(container.at("capabilities", "drop").texts()).containsExactly("ALL");
  }

  @Test
  void only_members_reach_the_ports_of_members() throws IOException {
    List<Yaml> rules = objects.only("NetworkPolicy").at("spec", "ingress").items();

    assertThat(rules).hasSize(2);
    assertThat(rules.get(0).find("from")).isEmpty();
    assertThat(rules.get(0).at("ports").items())
        .extracting(it -> it.at("port").number())
        .containsExactly(served().get(ListenKeys.PORT), served().get(MetricsKeys.METRICS_PORT));
    assertThat(rules.get(1).at("from").items().get(0).at("podSelector", "matchLabels").map())
        .isEqualTo(labels());
    assertThat(rules.get(1).at("ports").items())
        .extracting(it -> it.at("port").number())
        .containsExactly(
            cluster().getNetworkConfig().getPort(), served().get(ClusterKeys.CLUSTER_EVENT_PORT));
  }

  /**
   * Members that find each other as in Kubernetes, with conf/cluster-kubernetes.yaml: an API that
   * knows two pods, 127.0.0.1 and 127.0.0.2, answers what the role may read and refuses all else.
   */
  @Nested
  @EnabledOnOs(value = OS.LINUX, disabledReason = "others have no 127.0.0.2")
  class Discovery {
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
}
