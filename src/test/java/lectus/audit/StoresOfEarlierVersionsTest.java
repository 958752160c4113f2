package lectus.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import lectus.audit.testing.SoundStore;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Small stores that released versions wrote, in both layouts and with every kind of row, open, and
 * show what they showed then; they take writes and are sound.
 *
 * <p>A resource {@code stores/VERSION-LAYOUT.zip} has the data folder, and {@code answers.txt}: a
 * line with the target of a GET, a line with its answer. A version that adds a kind of row adds a
 * store; none is ever replaced.
 */
final class StoresOfEarlierVersionsTest {
  private static final String ANSWERS = "answers.txt";
  private static final String DATA = "data/";

  /** Stands for a line feed within an answer. */
  private static final char NEWLINE = 0;

  private static final Pattern ID = Pattern.compile("\"id\":\"((?:[^\"\\\\]|\\\\.)+)\"");
  private static final Pattern REVISION = Pattern.compile("\"_rev\":\"([^\"]+)\"");

  /** More numbers than fit into rows. */
  private static final String ZEROS = "{\"zeros\":[0" + ",0".repeat(70_000) + "]}";

  @TempDir Path folder;

  @BeforeEach
  void only() {
    TestStores.onlyEmbedded();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.2.0-inline", "0.2.0-rfc004"})
  void it_opens_and_shows_what_it_showed_and_takes_writes(String name) throws IOException {
    Map<String, String> answers = unpack(name);

    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        answers.forEach(
            (target, answer) ->
                assertThat(get(ann(server), target).body()).as(target).isEqualTo(answer));
      }
      SoundStore.assertSound(store);
    }
    Map<String, String> written = new LinkedHashMap<>();
    try (Store store = EmbeddedStores.open(folder)) {
      try (LectusServer server = LectusServer.start(store)) {
        edit(ann(server), written);
      }
      SoundStore.assertSound(store);
    }
    try (Store store = EmbeddedStores.open(folder);
        LectusServer server = LectusServer.start(store)) {
      assertThat(written).hasSizeGreaterThan(answers.size() / 4);
      written.forEach(
          (target, rev) -> assertThat(ann(server).get(target).body()).as(target).contains(rev));
    }
  }

  private static Member ann(LectusServer server) {
    return new Member(server, "ann");
  }

  /** Sends a request for JSON, since parts of other answers have a new boundary each time. */
  private static Answer get(Member ann, String target) {
    return ann.request("GET", target).header("Accept", "application/json").send();
  }

  /** Edits each document but those of the database that refuses every write. */
  private static void edit(Member ann, Map<String, String> written) {
    for (String db : databases(ann)) {
      if (db.equals("validated")) {
        continue;
      }
      for (String id : ids(ann, db)) {
        String target = "/" + path(db) + "/" + path(id);
        Matcher rev = REVISION.matcher(ann.get(target).body());
        if (rev.find()) {
          String edit = "{\"_rev\":\"" + rev.group(1) + "\",\"edited\":true,\"ch\":\"one\"}";
          written.put(target, ann.write(target, edit));
        }
      }
    }
  }

  /** Writes the stores of this build, for a version that is about to be released. */
  @Test
  void the_stores_of_this_version_are_written_when_asked_for() throws IOException {
    String target = System.getProperty("lectus.test.write-stores", "");
    assumeTrue(!target.isEmpty(), "-Dlectus.test.write-stores=src/test/resources/stores/VERSION");
    Path data = folder.resolve("data");
    try (Store store = EmbeddedStores.open(data)) {
      try (LectusServer server = LectusServer.start(store)) {
        EveryKindOfRow.write(server);
        server.write("/all/p:zeros", ZEROS);
      }
    }
    try (Store store = EmbeddedStores.open(data)) {
      EveryKindOfRow.complete(TestDatabase.open(store, "all"));
      Member.makeAdmin(store, "ann");
    }
    Path copy = folder.resolve("copy");
    copy(data, copy);
    Map<String, String> answers;
    try (Store store = EmbeddedStores.open(copy);
        LectusServer server = LectusServer.start(store)) {
      answers = answers(ann(server));
    }
    pack(Path.of(target + "-" + System.getProperty("lectus.test.layout") + ".zip"), data, answers);
  }

  private static Map<String, String> answers(Member ann) {
    Map<String, String> answers = new LinkedHashMap<>();
    keep(ann, answers, "/_all_dbs");
    for (String name : databases(ann)) {
      String db = "/" + path(name);
      for (String target :
          List.of(
              "/_all_docs?include_docs=true&conflicts=true&attachments=true",
              "/_changes?style=all_docs&include_docs=true&conflicts=true&attachments=true",
              "/_changes/_meta",
              "/_local_docs?include_docs=true",
              "/_security",
              "/_revs_limit",
              "/_purged_infos",
              "/_purged_infos_limit",
              "/_auto_purge",
              "/_index")) {
        keep(ann, answers, db + target);
      }
      for (String id : ids(ann, name)) {
        keep(ann, answers, db + "/" + path(id) + "?open_revs=all&revs=true&attachments=true");
      }
    }
    keep(ann, answers, "/all/_design/views/_view/v?reduce=false");
    keep(ann, answers, "/all/_design/views/_view/v");
    keep(ann, answers, "/all/_changes?filter=_feed/f&channel=one&left=true");
    keep(ann, answers, "/all/p:text/note");
    return answers;
  }

  private static void keep(Member ann, Map<String, String> answers, String target) {
    Answer answer = get(ann, target);
    assertThat(answer.status()).as(target + " " + answer.body()).isEqualTo(200);
    answers.put(target, answer.body());
  }

  private static List<String> databases(Member ann) {
    return Pattern.compile("\"([^\"]+)\"")
        .matcher(ann.get("/_all_dbs").body())
        .results()
        .map(name -> name.group(1))
        .toList();
  }

  /** Returns the ids of all documents of the changes index, deleted ones included; few of many. */
  private static List<String> ids(Member ann, String db) {
    return ID.matcher(ann.get("/" + path(db) + "/_changes?limit=60").body())
        .results()
        .map(id -> id.group(1))
        .toList();
  }

  private static String path(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("_design%2F", "_design/");
  }

  private Map<String, String> unpack(String name) throws IOException {
    Map<String, String> answers = new LinkedHashMap<>();
    try (InputStream resource = getClass().getResourceAsStream("/stores/" + name + ".zip");
        ZipInputStream zip = new ZipInputStream(resource)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (entry.getName().equals(ANSWERS)) {
          String[] lines = new String(zip.readAllBytes(), StandardCharsets.UTF_8).split("\n");
          for (int i = 0; i + 1 < lines.length; i += 2) {
            answers.put(lines[i], lines[i + 1].replace(NEWLINE, '\n'));
          }
        } else {
          Path file = folder.resolve(entry.getName().substring(DATA.length()));
          Files.createDirectories(file.getParent());
          Files.write(file, zip.readAllBytes());
        }
      }
    }
    return answers;
  }

  private static void pack(Path target, Path data, Map<String, String> answers) throws IOException {
    Files.createDirectories(target.toAbsolutePath().getParent());
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(target))) {
      zip.putNextEntry(new ZipEntry(ANSWERS));
      String text =
          answers.entrySet().stream()
              .map(it -> it.getKey() + "\n" + it.getValue().replace('\n', NEWLINE) + "\n")
              .collect(Collectors.joining());
      zip.write(text.getBytes(StandardCharsets.UTF_8));
      for (Path file : files(data)) {
        zip.putNextEntry(new ZipEntry(DATA + data.relativize(file)));
        zip.write(Files.readAllBytes(file));
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    for (Path file : files(from)) {
      Path copy = to.resolve(from.relativize(file));
      Files.createDirectories(copy.getParent());
      Files.copy(file, copy);
    }
  }

  /** Returns the files that matter; RocksDB writes its own log for people. */
  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> !file.getFileName().toString().matches("LOG.*|LOCK|lectus\\.lock"))
          .sorted()
          .toList();
    }
  }
}
