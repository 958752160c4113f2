package lectus;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.cli.Console;
import lectus.config.DefaultFile;
import lectus.config.ListenKeys;
import lectus.database.SettingsSubspace.SettingName;
import lectus.database.StoredSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line's output when it does not serve. */
final class LectusTest {
  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();

  private final StringWriter err = new StringWriter();

  private Map<String, String> environment = Map.of();

  private int run(String... args) {
    return Lectus.run(args, environment, new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  @Test
  void keys_of_tokens_that_are_none_stop_the_start() throws IOException {
    Path keys = Files.writeString(folder.resolve("keys"), "hmac:_default = !");
    String[] start = {"serve", "--data", data(), "--set", "access.jwt-keys=" + keys};
    assertRefused(
        run(start), "The keys of tokens in " + keys + " cannot be used: line 1 has no good key");
  }

  /** One line and no stack trace. */
  private void assertRefused(int status, String sentence) {
    assertThat(status).isIn(1, 78);
    assertThat(err.toString().strip().lines()).hasSize(1);
    assertThat(err.toString()).startsWith("lectus: ").contains(sentence);
    err.getBuffer().setLength(0);
  }

  @Test
  void the_status_says_whether_a_store_may_be_opened_later() throws IOException {
    String[] serve = {"serve", "--port", "0", "--data", data()};
    try (Store held = EmbeddedStores.open(Path.of(data()))) {
      assertThat(held.isAlone()).isTrue();
      assertThat(run(serve)).isEqualTo(1);
    }
    Path cluster = Files.writeString(folder.resolve("cluster.yaml"), "no: hazelcast");
    assertThat(run("serve", "--data", data(), "--cluster", "--cluster-config", cluster.toString()))
        .isEqualTo(78);
    Files.writeString(Path.of(data(), "lectus.format"), "damaged");
    assertThat(run(serve)).isEqualTo(78);
    Files.writeString(Path.of(data(), "lectus.format"), "lectus embedded store\nformat 99\n");
    assertThat(run(serve)).isEqualTo(78);
    assertThat(run("serve", "--data", Files.createFile(folder.resolve("file")).toString()))
        .isEqualTo(78);
  }

  @Test
  void where_lines_are_json_a_refusal_is_json() {
    environment = Map.of("LECTUS_LOG_FORMAT", "json", "LECTUS_PORT", "none");

    assertThat(run("serve", "--data", data())).isEqualTo(78);
    assertThat(new JsonObject(err.toString()).getString("message")).startsWith("\"port\" must be");
    environment = Map.of();
    err.getBuffer().setLength(0);
    String[] anonymous = {"--set", "log.format=json", "--host", "0.0.0.0"};
    assertThat(
            run("serve", "--data", data(), anonymous[0], anonymous[1], anonymous[2], anonymous[3]))
        .isEqualTo(78);
    assertThat(new JsonObject(err.toString()).getString("level")).isEqualTo("ERROR");
  }

  private String data() {
    return folder.resolve("data").toString();
  }

  @Test
  void help_and_version_are_answered() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("serve");
    assertThat(run("serve", "--help")).isZero();
    assertThat(out.toString()).contains("--allow-anonymous", "--cors-origin", "--set");
    assertThat(out.toString().replaceAll("\\s+", " "))
        .contains(ListenKeys.HOST.meaning() + " Default: " + ListenKeys.HOST.fallback());
    assertThat(run("--version")).isZero();
    assertThat(out.toString()).contains("Lectus ");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void the_configuration_file_can_be_had() {
    assertThat(run("config")).isZero();
    assertThat(out.toString()).isEqualTo(DefaultFile.text());
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void without_a_command_there_is_help_and_no_success() {
    assertThat(run()).isEqualTo(1);
    assertThat(out.toString()).contains("serve");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--port 70000|\"port\" must be a whole number from 0 to 65535, not \"70000\"",
        "--set prot=1|There is no configuration key \"prot\", on the command line; \"port\" is"
            + " one.",
        "--set quite.another=1|There is no configuration key \"quite.another\", on the command"
            + " line.",
        "--store memory|\"store\" must be embedded or foundationdb",
        "--store foundationdb|needs a --cluster-file",
        "--set directory=a//b|\"directory\" must be names with slashes between them, not \"a//b\"",
        "--set directory=|\"directory\" must be names with slashes between them",
        "--config no-such-file|The configuration file no-such-file cannot be read.",
        "--cluster-config no-such-file|of no use without \"cluster\" (--cluster)",
        "--cluster --cluster-config no-such-file|The cluster configuration no-such-file cannot be"
            + " read.",
        "--cluster --set cluster.event-port=65536|\"cluster.event-port\" must be a whole number"
            + " from 0 to 65535",
        "--set cors.origins=https://app.example,* --set cors.credentials=true|\"cors.origins\" must"
            + " name the origins when \"cors.credentials\" is true",
        "--cors-origin * --cors-origin https://a,https://b --set cors.credentials=true"
            + "|\"cors.origins\" must name the origins",
        "--host no.such.host.invalid|\"host\" names no address: \"no.such.host.invalid\" is not"
            + " known",
        "--set metrics.port=1 --set metrics.host=no.such.host.invalid|\"metrics.host\" names no"
            + " address: \"no.such.host.invalid\" is not known",
        "--host 192.0.2.1 --allow-anonymous|\"host\" is no address of this machine: \"192.0.2.1\"",
        "--prot 1|did you mean --port?",
        "--cors-origins=*|did you mean --cors-origin?",
        "--something-else 1|'1' (--help"
      })
  void a_mistake_is_one_sentence(String flags, String sentence) {
    String[] args = ("serve --data " + data() + " " + flags).split(" ");

    assertRefused(run(args), sentence);
    assertThat(Path.of(data())).doesNotExist();
  }

  @Test
  void without_an_admin_nobody_listens_beyond_loopback_by_accident() {
    assertRefused(
        run("serve", "--data", data(), "--host", "0.0.0.0"),
        "because there is no admin yet: \"lectus admin NAME\" makes one");
    assertThat(Path.of(data())).doesNotExist();
  }

  @Test
  void an_admin_of_the_environment_needs_a_name_and_a_password() {
    environment = Map.of("COUCHDB_USER", "root");

    assertRefused(run("serve", "--data", data()), "COUCHDB_USER and COUCHDB_PASSWORD");
    assertThat(Path.of(data())).doesNotExist();
  }

  @Test
  void an_unknown_variable_is_one_sentence() {
    environment = Map.of("LECTUS_PROT", "1");

    assertRefused(
        run("serve", "--data", data()),
        "LECTUS_PROT is no configuration key of Lectus; \"LECTUS_PORT\" is one.");
  }

  @Test
  void the_variable_for_the_file_is_none_of_its_keys() {
    environment = Map.of("LECTUS_CONFIG", "no-such-file");

    assertRefused(run("serve", "--data", data()), "no-such-file cannot be read");
  }

  @Test
  void a_switch_that_is_not_given_leaves_what_the_environment_says() {
    environment = Map.of("LECTUS_CLUSTER", "true");

    assertRefused(
        run("serve", "--data", data(), "--cluster-config", "no-such-file"),
        "The cluster configuration no-such-file cannot be read.");
  }

  @Test
  void a_port_in_use_is_one_sentence() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());

      int status = run("serve", "--port", port, "--data", data());
      assertThat(status).isEqualTo(1);
      assertRefused(status, port + " is in use.");
      String[] metrics = {"--set", "metrics.port=" + port};
      String[] serve = {"serve", "--port", "0", "--data", data(), metrics[0], metrics[1]};
      assertRefused(run(serve), port + " is in use.");
      assertThat(Path.of(data())).doesNotExist();
    }
  }

  @Test
  void metrics_have_a_port_of_their_own() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    String own = Integer.toString(port);
    String[] same = {"serve", "--port", own, "--data", data(), "--set", "metrics.port=" + own};

    assertRefused(run(same), own + " is in use.");
    assertThat(Path.of(data())).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "yaml|no: hazelcast",
        "yaml|hazelcast: [",
        "yaml|hazelcast: {network: {port: {port: many}}}",
        "xml|<hazelcast",
        "xml|<html></html>",
        "txt|hazelcast:"
      })
  void a_cluster_configuration_that_hazelcast_does_not_understand_is_one_sentence(
      String type, String content) throws IOException {
    Path file = Files.writeString(folder.resolve("cluster." + type), content);

    int status =
        run("serve", "--port", "0", "--data", data(), "--cluster", "--cluster-config", file + "");
    assertRefused(status, "cluster configuration " + file + " is not what Hazelcast understands: ");
  }

  @Test
  void a_port_of_the_cluster_in_use_is_one_sentence() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Path file =
          Files.writeString(
              folder.resolve("cluster.yaml"),
              """
              hazelcast:
                network:
                  port: {port: %d, auto-increment: false}
                  interfaces: {enabled: true, interfaces: [127.0.0.1]}
                  join: {auto-detection: {enabled: false}, tcp-ip: {enabled: true}}
                properties: {hazelcast.socket.bind.any: false}
              """
                  .formatted(taken.getLocalPort()));

      int status =
          run("serve", "--port", "0", "--data", data(), "--cluster", "--cluster-config", file + "");
      assertRefused(
          status, "cannot be joined: the port " + taken.getLocalPort() + " is in use, or its");
    }
  }

  @Test
  void a_port_for_events_in_use_is_one_sentence() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      Path file =
          Files.writeString(
              folder.resolve("cluster.yaml"),
              """
              hazelcast:
                cluster-name: %s
                network:
                  port: {port: 0}
                  interfaces: {enabled: true, interfaces: [127.0.0.1]}
                  join: {auto-detection: {enabled: false}}
                properties: {hazelcast.socket.bind.any: false}
              """
                  .formatted(folder));

      int status =
          run(
              ("serve --port 0 --data %s --cluster --cluster-config %s --set cluster.event-port=%s")
                  .formatted(data(), file, port)
                  .split(" "));
      assertRefused(status, "cannot be joined: the port " + port + " is in use, or its");
    }
  }

  @Test
  void a_data_folder_in_use_is_one_sentence() {
    try (Store holder = EmbeddedStores.open(Path.of(data()))) {
      assertThat(holder.id()).isNotEmpty();
      assertRefused(run("serve", "--port", "0", "--data", data()), data());
    }
  }

  @Test
  void an_unknown_command_is_answered_with_the_one_that_was_meant() {
    assertRefused(run("sreve"), "did you mean serve?");
  }

  @Test
  void a_data_folder_that_is_a_file_is_one_sentence() throws IOException {
    Files.writeString(Path.of(data()), "no folder");

    assertRefused(run("serve", "--port", "0", "--data", data()), data());
    assertThat(Files.readString(Path.of(data()))).isEqualTo("no folder");
  }

  private int settings(String... args) {
    String[] all =
        Stream.concat(
                Stream.of("settings", "--data", folder.resolve("data").toString()), Stream.of(args))
            .toArray(String[]::new);
    return Lectus.run(all, Map.of(), new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private Map<SettingName, Optional<String>> stored() {
    try (Store store = EmbeddedStores.open(folder.resolve("data"))) {
      return new StoredSettings(store).all();
    }
  }

  @Test
  void a_setting_is_set_listed_and_deleted() {
    assertThat(settings("couch_httpd_auth/timeout", "77")).isZero();
    assertThat(settings("cors/origins", "*")).isZero();
    assertThat(settings()).isZero();
    assertThat(settings("chttpd_auth/timeout", "--delete")).isZero();
    assertThat(settings("--delete")).isZero();

    assertThat(out.toString().lines())
        .containsExactly(
            "chttpd_auth/timeout is 77 now.",
            "cors/origins is * now.",
            "chttpd_auth/timeout = 77",
            "cors/origins = *",
            "chttpd_auth/timeout is as configured now.",
            "cors/origins is as configured now.");
    assertThat(err.toString()).isEmpty();
    assertThat(stored()).isEmpty();
  }

  @Test
  void what_only_a_newer_version_knows_can_be_deleted() {
    try (Store store = EmbeddedStores.open(folder.resolve("data"))) {
      new StoredSettings(store).put(new SettingName("new", "setting"), "x");
    }

    assertThat(settings("new/setting", "--delete")).isZero();
    assertThat(stored()).isEmpty();
  }

  @Test
  void a_mistake_is_one_sentence() {
    assertThat(settings("cors/max_age", "x")).isEqualTo(1);
    assertThat(settings("cors/max_age")).isEqualTo(1);
    assertThat(settings("cors/max_age", "1", "--delete")).isEqualTo(1);
    assertThat(settings("cors/nothing", "1")).isEqualTo(1);
    assertThat(settings("nothing", "1")).isEqualTo(1);
    assertThat(settings("cors/max_age", "--delete")).isEqualTo(1);
    assertThat(settings("nothing", "--delete")).isEqualTo(1);

    assertThat(err.toString().lines())
        .containsExactly(
            "lectus: cors/max_age must be a whole number from 0 to 86400, not \"x\".",
            "lectus: A setting has a name and a value, or is deleted by its name.",
            "lectus: A setting has a name and a value, or is deleted by its name.",
            "lectus: There is no setting cors/nothing that can be changed.",
            "lectus: There is no setting nothing that can be changed.",
            "lectus: The store does not have cors/max_age.",
            "lectus: The store does not have nothing.");
    assertThat(stored()).isEmpty();
  }

  @Test
  void while_a_server_holds_the_store_it_is_said_what_helps() {
    try (Store held = EmbeddedStores.open(folder.resolve("data"))) {
      assertThat(held.isAlone()).isTrue();
      assertThat(settings("cors/max_age", "1")).isEqualTo(1);
    }
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains("/_node/_local/_config/SECTION/NAME");
  }
}
