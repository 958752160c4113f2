package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.config.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lectus.config.ClusterKeys;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.MetricsKeys;
import lectus.config.ProxyKeys;
import lectus.config.StoreKeys;
import lectus.http.AddressRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The compose files, as far as that goes without starting anything. */
final class ComposeFilesTest {
  /** An orderly stop takes as long as running requests may, and a minute for all other steps. */
  private static final Duration BEYOND_REQUESTS = Duration.ofSeconds(60);

  private static final Path SECRETS = ComposeFile.FOLDER.resolve("lectus.env.example");

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml", "compose.yaml"})
  void each_server_has_keys_that_there_are_and_needs_an_admin(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);
    assertThat(file.servers()).isNotEmpty();
    for (String server : file.servers()) {
      file.servedHere(server).assertUsable();
      assertThat(file.served(server).needsAnAdmin()).isTrue();
      assertThat(file.service(server).at("secrets").texts()).containsExactly("lectus-password");
      assertThat(file.environment(server))
          .containsEntry("COUCHDB_PASSWORD_FILE", "/run/secrets/lectus-password")
          .doesNotContainKey("COUCHDB_PASSWORD");
      assertThat(file.yaml().at("secrets", "lectus-password", "file").text())
          .isEqualTo("./lectus-password");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml", "compose.yaml"})
  void each_server_has_time_to_stop_in_order(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);
    for (String server : file.servers()) {
      Duration grace = Duration.parse("PT" + file.service(server).at("stop_grace_period").text());
      assertThat(grace.minus(BEYOND_REQUESTS))
          .isGreaterThan(Duration.ofSeconds(file.served(server).get(HttpKeys.STOP_SECONDS)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml", "compose.yaml"})
  void each_server_is_confined(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);
    for (String server : file.servers()) {
      Yaml service = file.service(server);
      assertThat(service.at("read_only").value()).isEqualTo(true);
      assertThat(service.at("cap_drop").texts()).containsExactly("ALL");
      assertThat(service.at("security_opt").texts()).containsExactly("no-new-privileges:true");
      assertThat(service.find("user")).isEmpty();
      assertThat(service.find("privileged")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compose.single.yaml", "compose.yaml"})
  void what_they_mount_is_there(String name) throws IOException {
    ComposeFile file = new ComposeFile(name);

    assertThat(file.mounted()).allMatch(Files::exists, "exists");
    assertThat(file.service(file.servers().get(0)).at("build", "dockerfile").text())
        .isEqualTo("docker/Dockerfile");
  }

  @Test
  void the_single_server_keeps_its_data_in_a_volume_and_listens_on_this_machine()
      throws IOException {
    ComposeFile file = new ComposeFile("compose.single.yaml");
    Served served = file.served("lectus");

    assertThat(served.get(StoreKeys.STORE)).isEqualTo("embedded");
    assertThat(file.service("lectus").at("volumes").texts())
        .containsExactly("data:" + served.get(StoreKeys.DATA));
    assertThat(file.yaml().at("volumes").names()).containsExactly("data");
    assertThat(file.service("lectus").at("ports").texts())
        .containsExactly("127.0.0.1:5984:" + served.get(ListenKeys.PORT));
  }

  @Test
  void the_servers_of_the_cluster_share_a_store_and_find_each_other() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    assertThat(file.servers()).containsExactly("lectus-1", "lectus-2", "lectus-3");
    for (String server : file.servers()) {
      Served served = file.served(server);
      assertThat(served.get(StoreKeys.STORE)).isEqualTo("foundationdb");
      assertThat(served.get(ClusterKeys.CLUSTER)).isTrue();
      assertThat(file.service(server).at("volumes").texts())
          .containsExactly(
              "./cluster.yaml:" + served.get(ClusterKeys.CLUSTER_CONFIG) + ":ro",
              "coordinators:" + Path.of(served.get(StoreKeys.CLUSTER_FILE)).getParent() + ":ro");
    }
    Config cluster = Config.loadFromFile(ComposeFile.FOLDER.resolve("cluster.yaml").toFile());
    assertThat(cluster.getNetworkConfig().getJoin().getTcpIpConfig().getMembers())
        .containsExactlyElementsOf(file.servers());
  }

  @Test
  void the_database_is_made_once_before_any_server_starts() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    Yaml setup = file.service("foundationdb-setup");

    assertThat(setup.at("entrypoint").texts().get(2))
        .contains("until fdb \"status minimal\"", "configure new single ssd");
    assertThat(setup.at("restart").text()).isEqualTo("on-failure");
    for (String server : file.servers()) {
      assertThat(file.service(server).at("depends_on", "foundationdb-setup", "condition").text())
          .isEqualTo("service_completed_successfully");
    }
  }

  @Test
  void the_cluster_speaks_the_protocol_of_the_images_client_library() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    String image =
        "docker.io/foundationdb/foundationdb:" + Dockerfile.read().argument("FDB_VERSION");

    assertThat(file.service("foundationdb").at("image").text()).isEqualTo(image);
    assertThat(file.service("foundationdb-setup").at("image").text()).isEqualTo(image);
  }

  /** The cluster file has the address of the coordinator, not its name. */
  @Test
  void addresses_that_others_go_by_are_fixed_and_nobody_elses() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    String balancer = addressOf(file, "load-balancer");
    Yaml network = file.yaml().at("networks", "default", "ipam", "config").items().get(0);

    assertThat(network.at("subnet").text()).isEqualTo("172.30.84.0/24");
    assertThat(network.at("ip_range").text()).isEqualTo("172.30.84.128/25");
    assertThat(List.of(addressOf(file, "foundationdb"), balancer))
        .doesNotHaveDuplicates()
        .allMatch(address -> address.matches("172\\.30\\.84\\.[2-9]"));
    assertThat(file.environment("foundationdb").get("FDB_CLUSTER_FILE_CONTENTS"))
        .isEqualTo("lectus:lectus@" + addressOf(file, "foundationdb") + ":4500");
    for (String server : file.servers()) {
      assertThat(file.served(server).get(ProxyKeys.TRUSTED_PROXIES))
          .containsExactly(AddressRange.parse(balancer).orElseThrow());
    }
  }

  private static String addressOf(ComposeFile file, String service) {
    return file.service(service).at("networks", "default", "ipv4_address").text();
  }

  @Test
  void only_the_load_balancer_can_be_reached_and_it_knows_every_server() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    String configuration = Files.readString(ComposeFile.FOLDER.resolve("haproxy.cfg"));
    assertThat(file.yaml().at("services").names())
        .filteredOn(name -> file.service(name).find("ports").isPresent())
        .containsExactly("load-balancer", "prometheus", "grafana")
        .flatExtracting(name -> file.service(name).at("ports").texts())
        .allMatch(port -> port.startsWith("127.0.0.1:"));
    for (String server : file.servers()) {
      assertThat(configuration)
          .contains(
              "server " + server + " " + server + ":" + file.served(server).get(ListenKeys.PORT));
    }
    assertThat(configuration.lines().filter(line -> line.strip().startsWith("server ")))
        .hasSameSizeAs(file.servers());
    assertThat(configuration).contains("bind :5984\n");
    assertThat(file.service("load-balancer").at("ports").texts())
        .containsExactly("127.0.0.1:5984:5984");
  }

  @Test
  void what_is_named_elsewhere_in_the_file_is_there() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    for (String name : file.yaml().at("services").names()) {
      Yaml service = file.service(name);
      service
          .find("depends_on")
          .map(it -> it.value() instanceof List<?> ? it.texts() : it.names())
          .ifPresent(names -> assertThat(file.yaml().at("services").names()).containsAll(names));
      assertThat(file.yaml().at("volumes").names()).containsAll(file.volumesOf(name));
    }
  }

  @Test
  void prometheus_asks_each_server_where_its_figures_are() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    List<Yaml> jobs =
        Yaml.of(ComposeFile.FOLDER.resolve("prometheus.yml")).at("scrape_configs").items();
    List<String> targets = new ArrayList<>();
    for (String server : file.servers()) {
      Served served = file.served(server);
      assertThat(served.get(MetricsKeys.METRICS_HOST)).isEqualTo("0.0.0.0");
      targets.add(server + ":" + served.get(MetricsKeys.METRICS_PORT));
    }

    assertThat(targetsOf(jobs.get(0))).isEqualTo(targets);
    assertThat(targetsOf(jobs.get(1))).containsExactly("load-balancer:8404");
    assertThat(Files.readString(ComposeFile.FOLDER.resolve("haproxy.cfg")))
        .contains("bind :8404\n", "prometheus-exporter if { path /metrics }");
  }

  private static List<String> targetsOf(Yaml job) {
    assertThat(job.find("metrics_path")).isEmpty();
    return job.at("static_configs").items().get(0).at("targets").texts();
  }

  @Test
  void rules_and_dashboards_are_in_the_folder_that_is_mounted() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    Yaml prometheus = Yaml.of(ComposeFile.FOLDER.resolve("prometheus.yml"));
    Yaml provider =
        Yaml.of(ComposeFile.FOLDER.resolve("grafana/dashboards/lectus.yaml"))
            .at("providers")
            .items()
            .get(0);

    assertThat(List.of("prometheus", "grafana"))
        .allSatisfy(
            name ->
                assertThat(file.service(name).at("volumes").texts())
                    .contains("../conf:/etc/lectus:ro"));
    assertThat(prometheus.at("rule_files").texts()).containsExactly("/etc/lectus/alerts.yaml");
    assertThat(prometheus.at("scrape_configs").items().get(0).at("static_configs").items().get(0))
        .satisfies(
            it ->
                assertThat(it.at("labels").map())
                    .isEqualTo(Map.of("app_kubernetes_io_name", "lectus")));
    assertThat(provider.at("options", "path").text()).isEqualTo("/etc/lectus/grafana");
    assertThat(Path.of("conf", "grafana", "lectus.json")).exists();
  }

  @Test
  void monitoring_has_to_be_asked_for_and_grafana_has_a_password() throws IOException {
    ComposeFile file = new ComposeFile("compose.yaml");
    assertThat(List.of("prometheus", "grafana"))
        .allSatisfy(
            name ->
                assertThat(file.service(name).at("profiles").texts())
                    .containsExactly("monitoring"));
    Yaml grafana = file.service("grafana");
    String secret = grafana.at("secrets").texts().get(0);

    assertThat(grafana.at("environment", "GF_SECURITY_ADMIN_PASSWORD__FILE").text())
        .isEqualTo("/run/secrets/" + secret);
    assertThat(file.yaml().at("secrets", secret, "file").text()).isEqualTo("./grafana-password");
    assertThat(Files.readAllLines(Path.of(".gitignore"))).contains("/docker/grafana-password");
    assertThat(
            Yaml.of(ComposeFile.FOLDER.resolve("grafana/datasources/prometheus.yaml"))
                .at("datasources")
                .items())
        .extracting(it -> it.at("url").text())
        .containsExactly("http://prometheus:9090");
  }

  /** A server without a password refuses to start; one that everybody knows would be worse. */
  @Test
  void the_example_of_the_secrets_has_no_password_in_it() throws IOException {
    List<String> lines =
        Files.readAllLines(SECRETS).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .toList();

    assertThat(lines).containsExactly("COUCHDB_USER=admin", "COUCHDB_PASSWORD=");
    assertThat(Files.readAllLines(Path.of(".gitignore")))
        .contains("/docker/lectus.env", "/docker/lectus-password");
  }
}
