package lectus.http.auth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.config.AccessKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Bearer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Every route, asked for by everybody, against a table of what CouchDB 3.5 answers. */
final class RouteRightsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final String TABLE = "couchdb-3.5.txt";

  private static final List<String> ROLES = List.of("nobody", "eve", "jan", "ada", "root");

  private static final String SECURITY =
      "{\"admins\":{\"names\":[\"ada\"]},\"members\":{\"names\":[\"jan\"]}}";

  /** Names beside those of routes: filters of changes. */
  private static final Set<String> FILTERS = Set.of("_doc_ids", "_selector");

  /** What the table's words stand for. */
  private static final Map<String, String> REASONS =
      Map.of(
          "404", "404 Database does not exist.",
          "admin", "401 You are not a server admin.",
          "tidy", "401 You are not a server or db admin.",
          "user", "401 You are not an authenticated user",
          "stats", "401 You are not a server admin or read-only metrics user",
          "in", "401 You are not authorized to access this db.",
          "out", "403 You are not allowed to access this db.",
          "shape", "403 doc.type must be user",
          "owned", "403 You are not a db or server admin.");

  /** Where the names of routes stand. */
  private static final Pattern SOURCES = Pattern.compile(".*(Api|Routes|Resource)\\.java");

  @TempDir Path folder;

  /**
   * @param answers by role, in the table's words
   */
  private record Row(String method, String path, Map<String, String> answers) {
    static Row of(String line) {
      String[] words = line.split("\\s+");
      Map<String, String> answers = new LinkedHashMap<>();
      for (int i = 0; i < ROLES.size(); i++) {
        answers.put(ROLES.get(i), words[i + 2]);
      }
      return new Row(words[0], words[1], answers);
    }
  }

  private static List<Row> table() throws IOException {
    try (InputStream in = RouteRightsTest.class.getResourceAsStream(TABLE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(Row::of)
          .toList();
    }
  }

  private LectusServer withUsers() throws IOException {
    Path keys = Files.writeString(folder.resolve("keys"), Bearer.KEYS);
    LectusServer server =
        LectusServer.start(stores.fresh(), new TestSettings().with(AccessKeys.JWT_KEYS, keys));
    assertThat(server.put("/_node/_local/_config/admins/root", "\"secret\"").status())
        .isEqualTo(200);
    return server;
  }

  private static Request as(LectusServer server, String role, String method, String path) {
    Request request = server.request(method, path);
    return switch (role) {
      case "nobody" -> request;
      case "root" -> request.header("Authorization", Bearer.of("root", "_admin"));
      default -> request.header("Authorization", Bearer.of(role, ""));
    };
  }

  private static Answer send(LectusServer server, String role, Row row) {
    boolean hasBody = row.method().equals("PUT") || row.method().equals("POST");
    Request request = as(server, role, row.method(), row.path());
    return (hasBody ? request.json("{}") : request).send();
  }

  /** So that each row finds the same, whatever the one before did. */
  private static void prepare(LectusServer server) {
    for (String path : List.of("/db", "/_users", "/_replicator")) {
      as(server, "root", "PUT", path).send();
    }
    assertThat(as(server, "root", "PUT", "/db/_security").json(SECURITY).send().status())
        .isEqualTo(200);
  }

  /** Only the status can be told if the answer has no body. */
  private static String outcome(Answer answer, String wanted) {
    boolean isRefusal = answer.status() == 401 || answer.status() == 403;
    if (isRefusal && answer.body().isEmpty()) {
      return answer.status() + wanted.substring(wanted.indexOf(' '));
    }
    boolean isAbsence = answer.status() == 404 && answer.body().contains("Database does not");
    return isRefusal || isAbsence ? answer.status() + " " + answer.member("reason") : "-";
  }

  @Test
  void everybody_may_do_what_couchdb_lets_him_do() throws Exception {
    List<String> wrong = new ArrayList<>();
    try (LectusServer server = withUsers()) {
      for (Row row : table()) {
        prepare(server);
        row.answers()
            .forEach(
                (role, expected) -> {
                  String wanted = REASONS.getOrDefault(expected, expected);
                  String found = outcome(send(server, role, row), wanted);
                  if (!found.equals(wanted)) {
                    wrong.add(
                        row.method()
                            + " "
                            + row.path()
                            + " as "
                            + role
                            + ": "
                            + found
                            + ", not "
                            + expected);
                  }
                });
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void where_there_is_no_admin_everybody_may_do_everything() throws Exception {
    List<String> refused = new ArrayList<>();
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      server.put("/db");
      server.put("/db/_security", SECURITY);
      for (Row row : table()) {
        Answer answer = send(server, "nobody", row);
        if (answer.status() == 401 || answer.status() == 403) {
          refused.add(row.method() + " " + row.path() + ": " + answer.status());
        }
        if (row.path().contains("/_config/admins/x")) {
          server.request("DELETE", row.path()).send();
        }
      }
    }
    assertThat(refused).isEmpty();
  }

  @Test
  void the_table_has_every_route() throws Exception {
    Set<String> inTable =
        table().stream()
            .flatMap(row -> Arrays.stream(row.path().substring(1).split("/")))
            .collect(Collectors.toSet());
    Set<String> missing = new TreeSet<>(namesOfRoutes());
    assertThat(missing).contains("_all_docs", "_reload", "_up");
    missing.removeAll(inTable);
    missing.removeAll(FILTERS);
    assertThat(missing).isEmpty();
  }

  private static Set<String> namesOfRoutes() throws IOException {
    Set<String> names = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java/lectus/http"))) {
      for (Path file : files.filter(it -> SOURCES.matcher(it.toString()).matches()).toList()) {
        Pattern.compile("\"(_[a-z_]+)\"")
            .matcher(Files.readString(file))
            .results()
            .map(name -> name.group(1))
            .forEach(names::add);
      }
    }
    return names;
  }
}
