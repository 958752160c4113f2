package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import lectus.abuse.ServerProcess;
import lectus.http.testing.Connection;
import lectus.http.testing.Request;
import lectus.http.testing.TestCertificate;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;
import org.assertj.core.data.Index;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Text of processes: in the locale that containers have, which knows ASCII alone, in JSON, and on
 * each stream.
 */
final class ProcessTextTest {
  /**
   * Text of processes: in the locale that containers have, which knows ASCII alone, and in JSON.
   */
  @Nested
  class Locales {
    private static final Pattern LISTENING =
        Pattern.compile("listens on https://127.0.0.1:(\\d+)/");

    @TempDir private Path folder;

    @BeforeEach
    void need_linux() {
      Assumptions.assumeTrue(ServerProcess.canBeWatched());
    }

    /** Starts a process by a shell, which takes the bytes of what Java could not say here. */
    private Process begin(String variables, String arguments) throws IOException {
      String script = "%s exec \"$@\" lectus.Lectus %s".formatted(variables, arguments);
      ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", script, "-");
      builder.command().addAll(TestJava.command(256));
      builder.environment().put("LC_ALL", "C");
      builder.environment().put("LANG", "C");
      return builder.redirectErrorStream(true).redirectOutput(log().toFile()).start();
    }

    private Path log() {
      return folder.resolve("log");
    }

    private String said() {
      try {
        return Files.readString(log(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    private int run(String variables, String arguments, String input) throws Exception {
      Process process = begin(variables, arguments);
      process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().close();
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
      return process.exitValue();
    }

    private Path secret(String content) throws IOException {
      return Files.writeString(folder.resolve("secret"), content);
    }

    @Test
    void a_secret_in_a_file_that_is_no_secret_is_refused_with_a_sentence() throws Exception {
      assertRefused("", "cannot be read by this user: " + folder.resolve("secret"));
      secret("x");
      assertRefused("COUCHDB_PASSWORD=y ", "Only one of the variables COUCHDB_PASSWORD and");
      Files.write(folder.resolve("secret"), new byte[] {(byte) 0xfc});
      assertRefused("", "is not UTF-8.");
      secret("x".repeat(65_537));
      assertRefused("", "more than 65536 bytes");
      secret("\n");
      assertRefused("", "The file of COUCHDB_PASSWORD_FILE is empty.");
      assertThat(run("LECTUS_TLS_KEYSTORE_PASSWORD_FILE=/nowhere", "serve" + data(), ""))
          .isEqualTo(78);
      assertThat(run("LECTUS_PORT_FILE=/nowhere", "serve" + data(), "")).isEqualTo(78);
      assertThat(said()).contains("LECTUS_PORT_FILE is no configuration key");
    }

    private void assertRefused(String variables, String sentence) throws Exception {
      String file = "COUCHDB_USER=a COUCHDB_PASSWORD_FILE=" + folder.resolve("secret");
      assertThat(run(variables + file, "serve" + data(), "")).isEqualTo(78);
      assertThat(said()).contains(sentence);
      assertThat(said().lines()).hasSize(1);
    }

    private static String octal(String text) {
      StringBuilder octal = new StringBuilder("\"$(printf '");
      for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
        octal.append("\\%03o".formatted(octet & 0xff));
      }
      return octal.append("')\"").toString();
    }

    private String data() {
      return " --data " + folder.resolve("data");
    }

    @Test
    void an_admin_of_the_environment_has_the_name_and_the_password_that_were_given()
        throws Exception {
      TestCertificate certificate = TestCertificate.create(folder, "server", "EC");
      Process server =
          begin(
              "COUCHDB_USER=" + octal("jürgen") + " COUCHDB_PASSWORD_FILE=" + secret("密码\n"),
              "serve --port 0 --set access.hash-iterations=10 --tls-cert %s --tls-key %s"
                      .formatted(
                          certificate.writeCertificate(folder.resolve("pem")),
                          certificate.writeKey(folder.resolve("key")))
                  + data());
      try {
        Await.until("it listens", () -> !server.isAlive() || said().contains("listens on"));
        Matcher port = LISTENING.matcher(said());
        assertThat(port.find()).as(said()).isTrue();
        SSLSocket socket =
            (SSLSocket)
                certificate
                    .trusted()
                    .getSocketFactory()
                    .createSocket("127.0.0.1", Integer.parseInt(port.group(1)));
        socket.setEnabledProtocols(new String[] {"TLSv1.2"});
        try (Connection client = new Connection(socket)) {
          assertThat(status(client, "jürgen", "密码")).isEqualTo(200);
          assertThat(status(client, "jürgen", "\uFFFD".repeat(6))).isEqualTo(401);
          assertThat(status(client, "j\uFFFD\uFFFDrgen", "密码")).isEqualTo(401);
          assertThatThrownBy(
                  () -> {
                    socket.startHandshake();
                    status(client, "jürgen", "密码");
                  })
              .as("a client does not make the server shake hands again")
              .satisfiesAnyOf(
                  it -> assertThat(it).isInstanceOf(SSLException.class),
                  it -> assertThat(it).hasCauseInstanceOf(IOException.class));
        }
      } finally {
        server.destroy();
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
      }
    }

    private static int status(Connection client, String name, String password) {
      byte[] pair = (name + ":" + password).getBytes(StandardCharsets.UTF_8);
      return client
          .write(
              "GET /_session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n"
                  .formatted(Base64.getEncoder().encodeToString(pair)))
          .read(false)
          .status();
    }

    @Test
    void an_argument_and_what_is_read_are_utf_8() throws Exception {
      assertThat(run("", "admin " + octal("jürgen") + data(), "密码\n")).as(said()).isZero();
      assertThat(run("", "admin" + data(), "")).isZero();
      assertThat(said()).isEqualTo("jürgen\n");
    }

    @Test
    void what_is_not_utf_8_or_no_path_in_the_locale_is_refused_with_a_sentence() throws Exception {
      String latin1 = "\"$(printf '\\374')\"";
      assertThat(run("COUCHDB_USER=a COUCHDB_PASSWORD=" + latin1, "serve" + data(), ""))
          .isEqualTo(78);
      assertThat(said()).isEqualTo("lectus: The variable COUCHDB_PASSWORD is not UTF-8.\n");

      assertThat(run("", "check " + latin1 + data(), "")).isEqualTo(2);
      assertThat(said()).isEqualTo("lectus: Argument 2 is not UTF-8.\n");

      assertThat(run("", "check --data " + folder + "/" + octal("ü"), "")).isEqualTo(2);
      assertThat(said().lines()).hasSize(1);
      assertThat(said()).startsWith("lectus: The path \"" + folder + "/ü\" cannot be used: ");
    }

    @Test
    void every_line_of_a_server_is_json_from_the_first_to_the_last() {
      assumeThat(ServerProcess.canBeWatched()).isTrue();
      try (ServerProcess server = ServerProcess.start(folder, 64, "log.format=json")) {
        try (Connection client = new Connection(server.port())) {
          client.write("GET /_up HTTP/1.1\r\nHost: host\r\n\r\n");
          client.readHead().expect(200);
        }
        server.stop(60);
        List<JsonObject> lines = server.log().stream().map(JsonObject::new).toList();
        assertThat(lines.get(0).getString("message"))
            .isEqualTo("Lectus listens on http://127.0.0.1:" + server.port() + "/");
        assertThat(lines).anyMatch(line -> "/_up".equals(line.getString("path")));
        assertThat(lines).allMatch(line -> line.getInstant("time") != null);
      }
    }
  }

  /** What a server says from its start to its end, on each of its streams. */
  @Nested
  class Streams {
    private static final Pattern LISTENING =
        Pattern.compile("Lectus listens on http://\\S+:(\\d+)/");

    @TempDir private Path folder;

    private Process server;

    @AfterEach
    void end() throws InterruptedException {
      if (server != null) {
        server.destroyForcibly().waitFor();
      }
    }

    private int start(List<String> forJava, String... flags) throws IOException {
      List<String> command = TestJava.command(128, forJava.toArray(String[]::new));
      command.addAll(List.of("lectus.Lectus", "serve", "--port", "0", "--data", data().toString()));
      command.addAll(List.of(flags));
      server =
          new ProcessBuilder(command)
              .redirectOutput(folder.resolve("out").toFile())
              .redirectError(folder.resolve("err").toFile())
              .start();
      Await.until("it listens", () -> !server.isAlive() || port().isPresent());
      return port().orElseThrow();
    }

    private Optional<Integer> port() {
      return lines("out").stream()
          .map(LISTENING::matcher)
          .filter(Matcher::matches)
          .map(line -> Integer.valueOf(line.group(1)))
          .findFirst();
    }

    private Path data() {
      return folder.resolve("data");
    }

    private List<String> lines(String stream) {
      try {
        return Files.readAllLines(folder.resolve(stream));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    private void stop() throws InterruptedException {
      server.toHandle().destroy();
      assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void the_first_line_is_the_address_and_the_last_says_that_it_has_stopped() throws Exception {
      int port = start(List.of(), "--host", "0.0.0.0", "--allow-anonymous");
      String url = "http://0.0.0.0:" + port + "/";
      Path maps = Path.of("/proc", Long.toString(server.pid()), "maps");
      if (Files.exists(maps)) {
        assertThat(Files.readAllLines(maps))
            .as("the library that starts have in common is the one that is used")
            .anyMatch(it -> it.matches(".*/rocksdb-[0-9a-f]{8}/librocksdb.*"));
      }
      Await.until("it has said all", () -> lines("out").size() > 3);
      assertThat(lines("out"))
          .startsWith(
              "Lectus listens on " + url,
              "Version development, data in " + data() + ", dashboard at " + url + "_lectus/")
          .satisfies(line -> assertThat(line).startsWith("Memory: "), Index.atIndex(2))
          .contains(
              "Everybody who reaches 0.0.0.0 can read, write and delete everything.",
              Index.atIndex(3));
      stop();
      assertThat(lines("out")).contains("Lectus stops").endsWith("Lectus has stopped");
      assertThat(lines("err")).allMatch(Streams::isOfASlowMachine);

      // This start has something to warn of before it listens.
      Files.setPosixFilePermissions(data(), PosixFilePermissions.fromString("rwxr-xr-x"));
      start(List.of());
      assertThat(lines("err"))
          .anyMatch(it -> it.contains("Other users of this machine may enter the data directory"));
      assertThat(lines("out").get(0)).startsWith("Lectus listens on ");
      stop();
      assertThat(lines("out")).endsWith("Lectus has stopped");
    }

    /** Vert.x warns of an event loop that has waited for a processor for seconds. */
    private static boolean isOfASlowMachine(String line) {
      return line.contains("BlockedThreadChecker") || line.matches("\\tat .*|io\\.vertx\\..*");
    }

    @Test
    void a_configuration_of_the_log_of_ones_own_has_the_last_word() throws Exception {
      Path own =
          Files.writeString(
              folder.resolve("own.xml"),
              """
              <configuration>
                <conversionRule conversionWord="fields" class="lectus.metrics.EventFields"/>
                <appender name="MINE" class="ch.qos.logback.core.ConsoleAppender">
                  <encoder><pattern>mine %fields%msg</pattern></encoder>
                </appender>
                <root level="INFO"><appender-ref ref="MINE"/></root>
              </configuration>
              """);
      int port = start(List.of("-Dlogback.configurationFile=" + own), "--set", "http.hosts=host");
      new Request(port, "GET", "/_up").send().expect(200);
      Await.until(
          "it is logged", () -> lines("out").stream().anyMatch(it -> it.startsWith("mine 2")));
    }
  }
}
