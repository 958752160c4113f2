package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Stored feeds against feeds with a selector, while documents are written, deleted and replicated
 * at random, with conflicts and resharding in between.
 */
final class StoredFeedModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int STEPS = Integer.getInteger("lectus.feeds.steps", 60);
  private static final List<String> CHANNELS = List.of("a", "b", "c", "ä\\u0000");
  private static final Pattern ROW =
      Pattern.compile("\\{\"seq\":(\"[0-9a-f]+\"|null),\"id\":\"(\\w+)\",\"changes\":\\[.*?].*");

  private static LectusServer server;

  @BeforeAll
  static void start() {
    server = LectusServer.start(stores.fresh());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  static List<Long> seeds() {
    long first = Long.getLong("lectus.test.seed", 1);
    List<Long> seeds = new ArrayList<>();
    for (int i = 0; i < Integer.getInteger("lectus.feeds.seeds", 3); i++) {
      seeds.add(first + i);
    }
    return seeds;
  }

  /** A client that keeps what it was told of. */
  private final class Client {
    private final String query;
    private final Set<String> has = new HashSet<>();
    private String since = "0";

    Client(String query) {
      this.query = query;
    }

    void follow() {
      Answer answer = server.get(db + "/_changes?left=true&since=" + since + query).expect(200);
      for (String row : rows(answer)) {
        boolean isGone = row.contains("\"left\":true") || row.contains("\"deleted\":true");
        if (isGone) {
          has.remove(id(row));
        } else {
          has.add(id(row));
        }
      }
      since = answer.member("last_seq");
    }
  }

  private String db;
  private Random random;

  private static List<String> rows(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return answer
        .body()
        .lines()
        .filter(line -> line.startsWith("{\"seq\""))
        .map(line -> line.endsWith(",") ? line.substring(0, line.length() - 1) : line)
        .toList();
  }

  private static String id(String row) {
    Matcher parts = ROW.matcher(row);
    assertThat(parts.matches()).as(row).isTrue();
    return parts.group(2);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void a_stored_feed_shows_what_its_selector_shows(long seed) {
    db = "/model" + seed;
    random = new Random(seed);
    String partitions = "?changes_shards=" + (1 + random.nextInt(3));
    server.put(db + partitions).expect(201);
    define("early");
    List<Client> clients = new ArrayList<>();
    for (String query : List.of("&filter=_feed/early", "&filter=_feed/earlyc&channel=a")) {
      clients.add(new Client(query));
    }
    clients.add(new Client("&filter=_feed/earlyc&channel=a&channel=c"));
    List<String> sequences = new ArrayList<>(List.of("0"));
    for (int step = 0; step < STEPS; step++) {
      step();
      if (step == STEPS / 2) {
        define("late");
      }
      if (random.nextInt(4) == 0) {
        sequences.add(server.get(db).member("update_seq"));
        clients.forEach(Client::follow);
      }
    }
    clients.forEach(Client::follow);
    compareAll(sequences);
    assertThat(clients.get(0).has).isEqualTo(live("{\"n\":{\"$gt\":1}}"));
    assertThat(clients.get(1).has).isEqualTo(live(selectorOf("a")));
    assertThat(clients.get(2).has).isEqualTo(live(selectorOf("a", "c")));
    for (String order : List.of("", "&descending=true")) {
      assertThat(rows(shown("earlyc", "left=true" + order, "a", "b", "c")))
          .extracting(StoredFeedModelTest::id)
          .doesNotHaveDuplicates();
    }
  }

  private void define(String name) {
    server.put(db + "/_feeds/" + name, "{\"selector\":{\"n\":{\"$gt\":1}}}").expect(201);
    server.put(db + "/_feeds/" + name + "c", "{\"channels\":\"x.ch\"}").expect(201);
    assertThat(server.get(db + "/_feeds/" + name).member("state")).isEqualTo("ready");
  }

  private void step() {
    String id = "d" + random.nextInt(12);
    switch (random.nextInt(13)) {
      case 0 -> reshard();
      case 1, 2 -> replicate(id);
      case 3, 4 -> delete(id);
      case 5 -> purge(id);
      default -> edit(id, false);
    }
  }

  private void reshard() {
    if (random.nextInt(3) == 0) {
      String shards = "{\"shards\":" + (1 + random.nextInt(4)) + "}";
      assertThat(server.put(db + "/_changes/_meta", shards).status()).isIn(202, 409);
    }
  }

  /** Another leaf stays: nobody is told of a document of which nothing is left. */
  private void purge(String id) {
    List<String> some = leaves(id);
    if (some.size() > 1) {
      String body = "{\"" + id + "\":[\"" + some.get(random.nextInt(2)) + "\"]}";
      server.post(db + "/_purge", body).expect(201);
    }
  }

  private void delete(String id) {
    if (random.nextBoolean()) {
      edit(id, true);
      return;
    }
    List<String> revisions = leaves(id);
    if (!revisions.isEmpty()) {
      String revision = revisions.get(random.nextInt(revisions.size()));
      server.delete(db + "/" + id + "?rev=" + revision);
    }
  }

  private void edit(String id, boolean deleted) {
    List<String> revisions = leaves(id);
    String base =
        revisions.isEmpty()
            ? ""
            : "\"_rev\":\"" + revisions.get(random.nextInt(revisions.size())) + "\",";
    String mark = deleted ? "\"_deleted\":true," : "";
    server.put(db + "/" + id, "{" + base + mark + content() + "}");
  }

  private void replicate(String id) {
    int position = 1 + random.nextInt(3);
    String hash = "%032x".formatted(random.nextInt(1_000));
    String mark = random.nextInt(4) == 0 ? "\"_deleted\":true," : "";
    String document =
        "{\"_id\":\"" + id + "\",\"_rev\":\"" + position + "-" + hash + "\"," + mark + content();
    server
        .post(db + "/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + document + "}]}")
        .expect(201);
  }

  private String content() {
    String n = "\"n\":" + random.nextInt(4);
    return switch (random.nextInt(5)) {
      case 0 -> n;
      case 1 -> n + ",\"x\":{\"ch\":\"" + channel() + "\"}";
      case 2 -> n + ",\"x\":{\"ch\":[]}";
      case 3 -> n + ",\"x\":{\"ch\":[1,\"" + channel() + "\",{\"a\":\"b\"}]}";
      default -> n + ",\"x\":{\"ch\":[\"" + channel() + "\",\"" + channel() + "\"]}";
    };
  }

  private String channel() {
    return CHANNELS.get(random.nextInt(CHANNELS.size()));
  }

  /** Returns the live leaves. */
  private List<String> leaves(String id) {
    Answer answer = server.get(db + "/" + id + "?conflicts=true");
    if (answer.status() == 404) {
      return List.of();
    }
    List<String> found = new ArrayList<>(List.of(answer.member("_rev")));
    int conflicts = answer.body().indexOf("\"_conflicts\":[");
    if (conflicts >= 0) {
      Pattern.compile("\"(\\d+-[0-9a-f]{32})\"")
          .matcher(answer.body().substring(conflicts))
          .results()
          .forEach(it -> found.add(it.group(1)));
    }
    return found;
  }

  private Set<String> live(String selector) {
    Set<String> ids = new HashSet<>();
    for (String row : selected(selector, "since=0")) {
      if (!row.contains("\"deleted\":true")) {
        ids.add(id(row));
      }
    }
    return ids;
  }

  private static String selectorOf(String... channels) {
    List<String> some = new ArrayList<>();
    for (String channel : channels) {
      some.add("{\"x.ch\":\"" + channel + "\"}");
      some.add("{\"x.ch\":{\"$elemMatch\":{\"$eq\":\"" + channel + "\"}}}");
    }
    return "{\"$or\":[" + String.join(",", some) + "]}";
  }

  private List<String> selected(String selector, String query) {
    return rows(
        server.post(db + "/_changes?filter=_selector&" + query, "{\"selector\":" + selector + "}"));
  }

  private void compareAll(List<String> sequences) {
    for (String feed : List.of("early", "late")) {
      for (String query :
          List.of(
              "",
              "style=all_docs",
              "include_docs=true&conflicts=true",
              "style=all_docs&include_docs=true",
              "descending=true",
              "style=all_docs&descending=true")) {
        for (String since : sequences) {
          String from = query + "&since=" + since;
          assertThat(rows(server.get(db + "/_changes?filter=_feed/" + feed + "&" + from)))
              .as(feed + " " + from)
              .isEqualTo(selected("{\"n\":{\"$gt\":1}}", from));
          compareChannels(feed + "c", from, "a");
          compareChannels(feed + "c", from, "b", "c");
        }
      }
      comparePaging(feed);
    }
    assertThat(rows(shown("earlyc", "", "%C3%A4%00")))
        .containsAll(selected(selectorOf("ä\\u0000"), ""));
  }

  private Answer shown(String feed, String query, String... channels) {
    return server.get(
        db
            + "/_changes?filter=_feed/"
            + feed
            + "&channel="
            + String.join("&channel=", channels)
            + "&"
            + query);
  }

  /** Beside what the selector shows, a channel shows deletions of its documents. */
  private void compareChannels(String feed, String query, String... channels) {
    List<String> selected = selected(selectorOf(channels), query);
    Map<Boolean, List<String>> shown = new LinkedHashMap<>();
    for (String row : rows(shown(feed, query, channels))) {
      shown.computeIfAbsent(selected.contains(row), none -> new ArrayList<>()).add(row);
    }
    assertThat(shown.getOrDefault(true, List.of())).as(feed + " " + query).isEqualTo(selected);
    assertThat(shown.getOrDefault(false, List.of()))
        .allMatch(row -> row.contains("\"deleted\":true") && !row.contains("\"left\""));
  }

  private void comparePaging(String feed) {
    List<String> all = rows(server.get(db + "/_changes?filter=_feed/" + feed));
    List<String> paged = new ArrayList<>();
    String since = "0";
    Answer page;
    do {
      page = server.get(db + "/_changes?limit=2&filter=_feed/" + feed + "&since=" + since);
      paged.addAll(rows(page));
      since = page.member("last_seq");
    } while (!rows(page).isEmpty());
    assertThat(paged).isEqualTo(all);
    assertThat(since).isEqualTo(server.get(db).member("update_seq"));
    assertThat(rows(server.get(db + "/_changes?filter=_feed/" + feed + "&seq_interval=3")))
        .isEqualTo(selected("{\"n\":{\"$gt\":1}}", "seq_interval=3"));
  }
}
