package lectus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.account.Admins;
import lectus.cli.Console;
import lectus.clients.NodeClients;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code lectus admin} on an embedded store, and the first admin of a server that starts. */
final class AdminsOfTheCommandLineTest {
  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Optional<String> password = Optional.of("apple");

  private int admin(String... args) {
    return run("admin", args);
  }

  private int run(String command, String... args) {
    String[] all =
        Stream.concat(
                Stream.of(
                    command, "--data", data().toString(), "--set", "access.hash-iterations=10"),
                Stream.of(args))
            .toArray(String[]::new);
    Console console = new Console(new PrintWriter(out), new PrintWriter(err));
    return Lectus.run(all, Map.of(), console, name -> password);
  }

  private Path data() {
    return folder.resolve("data");
  }

  private List<String> admins() {
    try (Store store = EmbeddedStores.open(data())) {
      return new Admins(store).all().stream().map(it -> it.name() + " " + it.hash()).toList();
    }
  }

  @Test
  void an_admin_is_made_listed_and_deleted() {
    assertThat(admin("jan")).isZero();
    assertThat(out.toString()).isEqualTo("jan is an admin now.\n");
    assertThat(admins()).singleElement().asString().matches("jan -pbkdf2:sha256-.*,10");
    assertThat(admin("jan")).isZero();
    assertThat(out.toString()).endsWith("jan has a new password now.\n");
    assertThat(admin("anna")).isZero();
    assertThat(admin()).isZero();
    assertThat(out.toString()).endsWith("now.\nanna\njan\n");
    assertThat(admin("jan", "--delete")).isZero();
    assertThat(out.toString()).endsWith("jan is no admin any more.\n");
    assertThat(admins()).singleElement().asString().startsWith("anna ");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void a_mistake_is_one_sentence() {
    assertThat(admin("--delete")).isEqualTo(1);
    assertThat(admin("jan", "--delete")).isEqualTo(1);
    assertThat(admin("a:b")).isEqualTo(1);
    password = Optional.of("");
    assertThat(admin("jan")).isEqualTo(1);
    password = Optional.empty();
    assertThat(admin("jan")).isEqualTo(1);
    assertThat(err.toString().lines())
        .containsExactly(
            "lectus: --delete needs the name of the admin.",
            "lectus: There is no admin jan.",
            "lectus: The name of an admin has 1 to 256 bytes, and neither a colon nor control"
                + " characters.",
            "lectus: The password of an admin is empty.",
            "lectus: There was no password, or it was not repeated as it was.");
    assertThat(admins()).isEmpty();
  }

  @Test
  void while_a_server_holds_the_store_it_is_said_what_helps() {
    try (Store held = EmbeddedStores.open(data())) {
      assertThat(held.isAlone()).isTrue();
      assertThat(admin("jan")).isEqualTo(1);
    }
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString())
        .contains("/_node/_local/_config/admins/NAME", "COUCHDB_USER and COUCHDB_PASSWORD");
  }

  @Test
  void the_environment_makes_an_admin_when_a_server_starts_and_leaves_one_as_it_is()
      throws IOException, InterruptedException {
    serve(Map.of("COUCHDB_USER", "root", "COUCHDB_PASSWORD", "apple"), "data in");
    List<String> first = admins();
    assertThat(first).singleElement().asString().matches("root -pbkdf2:sha256-.*,10");
    serve(
        Map.of("COUCHDB_USER", "root", "COUCHDB_PASSWORD", "pear"),
        "The password of root is another one than COUCHDB_PASSWORD says, and stays so");
    assertThat(admins()).isEqualTo(first);
  }

  @Test
  void what_only_couchdb_and_its_image_would_heed_is_named() throws Exception {
    serve(
        Map.of("COUCHDB_SECRET", "apple", "NODENAME", "a", "COUCHDB_USER", ""),
        "ignored in the environment: COUCHDB_SECRET, NODENAME");
    assertThat(admin("jan")).isZero();
    serve(
        Map.of("COUCHDB_USER", "root", "COUCHDB_PASSWORD", "apple"),
        "COUCHDB_USER is new here: root is an admin beside those that there were.");
    assertThat(admins()).hasSize(2);
  }

  /** In a view of the file system of its own, where it may mount. */
  @Test
  void a_volume_of_couchdbs_image_is_not_left_unread() throws Exception {
    String mount =
        "mount -t tmpfs none /opt && mkdir -p /opt/couchdb/%1$s && mount -t tmpfs none"
            + " /opt/couchdb/%1$s && %2$s exec \"$@\"";
    assumeTrue(
        NodeClients.runs("unshare", "-m", "sh", "-c", mount.formatted("data", ""), "-", "true"),
        "this user may not mount");
    for (String place : List.of("data", "etc/local.d")) {
      Path log = folder.resolve("log");
      List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
      command.addAll(List.of(mount.formatted(place, ""), "-"));
      command.addAll(server());
      Process refused = new ProcessBuilder(command).redirectError(log.toFile()).start();
      assertThat(refused.waitFor()).isEqualTo(78);
      assertThat(Files.readString(log))
          .contains("There is a volume at /opt/couchdb/" + place + ", which CouchDB's image uses");
    }
    List<String> beside = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
    beside.addAll(List.of(mount.formatted("data", "mkdir /opt/couchdb/bin;"), "-"));
    serve(new ProcessBuilder(beside), Map.of(), "data in");
  }

  private List<String> server() {
    List<String> command = TestJava.command(128);
    command.addAll(List.of("lectus.Lectus", "serve", "--data", data().toString()));
    command.addAll(List.of("--port", "0", "--set", "access.hash-iterations=10"));
    return command;
  }

  private void serve(Map<String, String> environment, String told)
      throws IOException, InterruptedException {
    serve(new ProcessBuilder(new ArrayList<>()), environment, told);
  }

  /**
   * Starts a server and stops it once it has said something.
   *
   * @param builder with what comes before the command
   */
  private void serve(ProcessBuilder builder, Map<String, String> environment, String told)
      throws IOException, InterruptedException {
    builder.command().addAll(server());
    builder.environment().putAll(environment);
    Process server = builder.redirectError(folder.resolve("log").toFile()).start();
    String password = environment.getOrDefault("COUCHDB_PASSWORD", "apple");
    try (BufferedReader lines = server.inputReader()) {
      assertThat(lines.readLine()).startsWith("Lectus listens on http://");
      assertThat(lines.lines().takeWhile(line -> !line.contains(told)))
          .noneMatch(line -> line.contains(password) || line.contains("has stopped"));
      server.toHandle().destroy();
      assertThat(lines.lines()).noneMatch(line -> line.contains(password)).isNotEmpty();
      server.waitFor();
    } finally {
      server.destroyForcibly();
    }
  }
}
