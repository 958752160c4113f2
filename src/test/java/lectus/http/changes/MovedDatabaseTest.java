package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.changes.testing.MovedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every reader of a database whose history was written in another store, with versions far above or
 * far below those of this one: no position falls, nothing is missed, nothing comes twice.
 */
final class MovedDatabaseTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Pattern ROW = Pattern.compile("\"seq\":\"([^\"]*)\",\"id\":\"([^\"]*)\"");
  private static final String VIEWS =
      "{\"views\":{\"v\":{\"map\":\"function (doc) { emit(doc.v, null); }\"}}}";

  /** The versions of the other store. */
  enum Versions {
    ABOVE,
    BELOW
  }

  private final Store store = MovedDatabase.withLongPrefixes(stores.fresh());
  private final TransactionRunner transactions =
      new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final Catalogue catalogue = new Catalogue(store, transactions, InstantSource.system());
  @AutoClose private final LectusServer server = LectusServer.start(store);

  /** Rows of the source by the sequences that they have in the moved database, oldest first. */
  private Map<String, String> history;

  private MovedDatabase moved;

  /** A position in the source where another feed of the same name was removed later. */
  private String beforeRemoval;

  private String whileItWrote;

  private void copy(Versions versions) {
    DatabaseName source = DatabaseName.of("source");
    long shift =
        versions == Versions.ABOVE
            ? MovedDatabase.ABOVE
            : MovedDatabase.below(catalogue.open(source), 1_000);
    moved = MovedDatabase.copy(transactions, catalogue, source, DatabaseName.of("moved"), shift);
  }

  /** Makes a database with all that has sequences, and moves it. */
  private void move(Versions versions) {
    server.put("/source?changes_shards=2");
    server.put("/source/_feeds/f", "{\"channels\":\"ch\"}");
    server.write("/source/first", "{\"ch\":\"a\",\"v\":1}");
    beforeRemoval = server.get("/source").member("update_seq");
    server.delete("/source/_feeds/f");
    server.put("/source/_feeds/f", "{\"channels\":\"ch\"}");
    String gone = server.write("/source/gone", "{\"ch\":\"a\",\"v\":2}");
    String left = server.write("/source/left", "{\"ch\":\"a\",\"v\":3}");
    server.write("/source/_design/d", VIEWS);
    server.put("/source/_changes/_meta", "{\"shards\":3}");
    for (int i = 0; i < 5; i++) {
      server.write("/source/d" + i, "{\"ch\":\"a\",\"v\":" + i + "}");
    }
    server.delete("/source/gone?rev=" + gone);
    server.write("/source/left?rev=" + left, "{\"ch\":\"b\",\"v\":9}");
    whileItWrote = tokenOfStore();
    copy(versions);
    history = new LinkedHashMap<>();
    rows(server.get("/source/_changes").body()).forEach((at, id) -> history.put(moved(at), id));
    beforeRemoval = moved(beforeRemoval);
  }

  private String moved(String sequence) {
    return moved.moved(Sequence.parse(sequence).orElseThrow()).toString();
  }

  private static Map<String, String> rows(String body) {
    Map<String, String> rows = new LinkedHashMap<>();
    ROW.matcher(body).results().forEach(it -> rows.put(it.group(1), it.group(2)));
    return rows;
  }

  private String tokenOfStore() {
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("s", "'db':'moved*','since':'now'");
      return client.caughtUp("s");
    }
  }

  private Map<String, String> historyBehind(String sequence) {
    Map<String, String> rest = new LinkedHashMap<>(history);
    rest.keySet().removeIf(it -> it.compareTo(sequence) <= 0);
    return rest;
  }

  private String lastOfHistory() {
    return List.copyOf(history.keySet()).get(history.size() - 1);
  }

  private Map<String, String> changes(String query) {
    Answer answer = server.get("/moved/_changes" + query);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    return rows(answer.body());
  }

  @ParameterizedTest
  @EnumSource
  void normal_feeds_of_all_kinds(Versions versions) {
    move(versions);
    assertThat(server.get("/moved").member("update_seq")).isEqualTo(lastOfHistory());
    assertThat(changes("")).isEqualTo(history);
    history.keySet().forEach(at -> assertGoesOnBehind(at));
    List<String> newest = new ArrayList<>(history.keySet());
    Collections.reverse(newest);
    assertThat(changes("?descending=true").keySet()).containsExactlyElementsOf(newest);
    assertThat(changes("?descending=true&until=" + newest.get(3)).keySet())
        .containsExactlyElementsOf(newest.subList(3, newest.size()));
    assertThat(changes("?until=" + newest.get(3)).keySet())
        .containsExactlyElementsOf(history.keySet().stream().limit(newest.size() - 3).toList());
    assertThat(inSteps("?limit=2")).isEqualTo(history);
    assertThat(changes("?filter=_doc_ids&doc_ids=[\"d2\",\"gone\"]").values())
        .containsExactly("d2", "gone");
    Map<String, String> ofShards = new LinkedHashMap<>();
    for (int shard = 0; shard < 5; shard++) {
      ofShards.putAll(rows(server.get("/moved/_changes/" + shard).body()));
    }
    assertThat(ofShards).isEqualTo(history);
    assertThat(server.get("/moved/_changes/_meta?since=" + lastOfHistory()).body())
        .doesNotContain("[\"0\",\"1\"]")
        .contains("[\"2\",\"3\",\"4\"]");
  }

  private void assertGoesOnBehind(String at) {
    assertThat(changes("?since=" + at)).isEqualTo(historyBehind(at));
    for (String form : List.of("&timeout=0&feed=longpoll", "&timeout=0&feed=continuous")) {
      assertThat(changes("?since=" + at + form)).isEqualTo(historyBehind(at));
    }
  }

  private Map<String, String> inSteps(String query) {
    Map<String, String> all = new LinkedHashMap<>();
    String since = "0";
    int before;
    do {
      before = all.size();
      Answer answer = server.get("/moved/_changes" + query + "&since=" + since);
      all.putAll(rows(answer.body()));
      since = answer.member("last_seq");
    } while (all.size() > before);
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void what_is_written_comes_behind_the_history(Versions versions) {
    move(versions);
    String beyond = new Sequence(0, Versionstamp.END.predecessor().bytes()).toString();
    Map<String, String> before = changes("");
    String rev = server.get("/moved/d1").member("_rev");
    server.write("/moved/d1?rev=" + rev, "{\"ch\":\"a\",\"v\":7}");
    server.write("/moved/new", "{\"ch\":\"a\",\"v\":8}");
    before.values().remove("d1");

    Map<String, String> now = changes("");
    List<String> ids = new ArrayList<>(before.values());
    ids.addAll(List.of("d1", "new"));
    assertThat(now.values()).containsExactlyElementsOf(ids);
    assertThat(List.copyOf(now.keySet())).isSorted();
    assertThat(server.get("/moved").member("update_seq")).startsWith("1501");
    assertThat(changes("?since=" + lastOfHistory()).values()).containsExactly("d1", "new");
    assertThat(changes("?since=" + beyond).values())
        .as("what the other store wrote after the move")
        .containsExactly("d1", "new");

    server.put("/moved/_changes/_meta", "{\"shards\":2}");
    server.write("/moved/newer", "{}");
    ids.add("newer");
    assertThat(changes("").values()).containsExactlyElementsOf(ids);
    for (String at : now.keySet()) {
      assertThat(changes("?since=" + at).values())
          .containsExactlyElementsOf(
              ids.subList(List.copyOf(now.keySet()).indexOf(at) + 1, ids.size()));
    }
  }

  @ParameterizedTest
  @EnumSource
  void sequences_of_no_time_that_it_had(Versions versions) {
    move(versions);
    Sequence begun = new Sequence(1, catalogue.open(DatabaseName.of("moved")).joined().bytes());
    server.write("/moved/new", "{}");
    Map<String, String> all = changes("");

    String ofAnotherCopy = begun.predecessor().toString();
    assertThat(changes("?since=" + ofAnotherCopy)).isEqualTo(all);
    assertThat(changes("?feed=longpoll&since=" + ofAnotherCopy)).isEqualTo(all);
    assertThat(server.get("/moved/_changes/_meta?since=" + ofAnotherCopy).body())
        .contains("[\"0\",\"1\"]");
    for (String form : List.of("", "&feed=longpoll", "&feed=continuous", "&feed=eventsource")) {
      Answer later =
          server
              .get("/moved/_changes?since=" + new Sequence(2, begun.versionstamp()) + form)
              .expect(400);
      assertThat(later.member("reason")).contains("Incarnation 2", "is in 1");
    }
  }

  @ParameterizedTest
  @EnumSource
  void live_feeds(Versions versions) {
    move(versions);
    String at = List.copyOf(history.keySet()).get(2);
    List<String> ids = new ArrayList<>(historyBehind(at).values());
    try (Connection continuous =
            server
                .request("GET", "/moved/_changes?feed=continuous&heartbeat=60000&since=" + at)
                .open();
        SocketClient socket =
            SocketClient.connect(server, "/moved/_changes?heartbeat=60000&since=" + at);
        Connection now =
            server
                .request("GET", "/moved/_changes?feed=continuous&heartbeat=60000&since=now")
                .open();
        Conversation client = Conversation.with(server)) {
      continuous.readHead().expect(200);
      now.readHead().expect(200);
      client.subscribe("s", "'db':'moved','since':'" + at + "'");
      StringBuilder lines = new StringBuilder();
      while (!lines.toString().contains("\"left\"")) {
        lines.append(continuous.chunkText());
      }
      assertThat(rows(lines.toString()).values()).containsExactlyElementsOf(ids);
      for (String id : ids) {
        assertThat(socket.text()).contains("\"id\":\"" + id + "\"");
        client.row("s", id);
      }
      assertThat(client.caughtUp("s")).isEqualTo(lastOfHistory());

      server.write("/moved/new", "{}");
      assertThat(continuous.chunkText()).contains("\"new\"");
      assertThat(now.chunkText()).contains("\"new\"");
      assertThat(socket.text()).contains("\"new\"");
      client.row("s", "new");
    }
  }

  @ParameterizedTest
  @EnumSource
  void readers_of_many_databases(Versions versions) {
    move(versions);
    String afterwards;
    List<String> tokens = new ArrayList<>();
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("s", "'db':'moved*','since':'" + whileItWrote + "'");
      history.values().forEach(id -> tokens.add(client.row("s", id)));
      afterwards = client.caughtUp("s");
      server.put("/moved2");
      server.write("/moved2/other", "{}");
      server.write("/moved/new", "{}");
      client.row("s", "other");
      client.row("s", "new");
    }
    List<String> ids = new ArrayList<>(history.values());
    ids.addAll(List.of("other", "new"));
    for (String database : List.of("'moved*'", "['moved','moved2']")) {
      for (int i = 0; i < tokens.size(); i++) {
        assertShows(database, tokens.get(i), ids.subList(i + 1, ids.size()));
      }
      assertShows(database, afterwards, List.of("other", "new"));
      assertShows(database, "0", ids);
    }
    assertThat(tokens).allMatch(it -> it.startsWith(tokens.get(0).substring(0, 24)));
    assertThat(afterwards).hasSize(24).isGreaterThan(tokens.get(0).substring(0, 24));
    String inMiddle = server.get("/_db_updates?since=" + tokens.get(1)).body();
    assertThat(inMiddle).contains("{\"db_name\":\"moved\",\"type\":\"created\"");
    assertThat(server.get("/_db_updates?since=" + afterwards).body())
        .doesNotContain("\"created\",\"db_name\":\"moved\"")
        .contains("{\"db_name\":\"moved\",\"type\":\"updated\"");
  }

  private void assertShows(String databases, String since, List<String> ids) {
    try (Conversation client = Conversation.with(server)) {
      client.subscribe("s", "'db':" + databases + ",'since':'" + since + "'");
      ids.forEach(id -> client.row("s", id));
      client.caughtUp("s");
    }
  }

  @ParameterizedTest
  @EnumSource
  void stored_feeds(Versions versions) {
    move(versions);
    String path = "?filter=_feed/f&channel=a&left=true";
    List<String> ids = List.of("first", "d0", "d1", "d2", "d3", "d4", "gone", "left");
    Map<String, String> all = changes(path);
    assertThat(all.values()).containsExactlyElementsOf(ids);
    assertThat(server.get("/moved/_changes" + path + "&since=" + beforeRemoval).status())
        .as("a feed of the name was removed there later")
        .isEqualTo(412);
    for (String at : all.keySet()) {
      assertThat(changes(path + "&since=" + at).values())
          .containsExactlyElementsOf(ids.subList(List.copyOf(all.keySet()).indexOf(at) + 1, 8));
    }
    assertThat(subscribed("a", "0")).isEqualTo(ids);
    assertThat(subscribed("a", whileItWrote)).isEqualTo(ids);

    server.write("/moved/new", "{\"ch\":\"a\"}");
    String last = server.get("/moved/_changes" + path).member("last_seq");
    assertThat(changes(path + "&since=" + lastOfHistory()).values()).containsExactly("new");
    server.delete("/moved/_feeds/f");
    server.put("/moved/_feeds/f", "{\"channels\":\"ch\"}");
    for (String at : List.of(lastOfHistory(), last)) {
      server.get("/moved/_changes" + path + "&since=" + at).expect(412);
    }
    Map<String, String> anew = changes(path);
    assertThat(anew.values()).contains("first", "d3", "new");
    for (String at : anew.keySet()) {
      assertThat(server.get("/moved/_changes" + path + "&since=" + at).status())
          .as("it knows of the removal")
          .isEqualTo(200);
    }
  }

  private List<String> subscribed(String channel, String since) {
    List<String> ids = new ArrayList<>();
    try (Conversation client = Conversation.with(server)) {
      client.subscribe(
          "s",
          "'db':'moved*','feed':'f','left':true,'channels':['%s'],'since':'%s'"
              .formatted(channel, since));
      for (String text = client.socket().text();
          text.contains("\"row\"");
          text = client.socket().text()) {
        ids.addAll(rows(text).values());
      }
    }
    return ids;
  }

  @ParameterizedTest
  @EnumSource
  void views_queries_and_documents(Versions versions) {
    move(versions);
    String view = "/moved/_design/d/_view/v";
    assertThat(server.get(view).body()).contains("\"total_rows\":7");
    server.write("/moved/new", "{\"v\":10}");
    String rev = server.get("/moved/d0").member("_rev");
    server.delete("/moved/d0?rev=" + rev);
    assertThat(server.get(view).body())
        .contains("\"total_rows\":7", "\"id\":\"new\"")
        .doesNotContain("\"id\":\"d0\"");
    server.post("/moved/_purge", "{\"d1\":[\"" + server.get("/moved/d1").member("_rev") + "\"]}");
    assertThat(server.get(view).body()).contains("\"total_rows\":6");
    assertThat(server.get("/moved").member("purge_seq")).startsWith("1501");
    server.post("/moved/_index", "{\"index\":{\"fields\":[\"v\"]}}");
    assertThat(server.post("/moved/_find", "{\"selector\":{\"v\":{\"$gte\":4}}}").body())
        .contains("\"d4\"", "\"new\"", "\"left\"");
  }

  /** More than is mapped or filled at once. */
  @ParameterizedTest
  @EnumSource
  void what_is_built_of_many_documents(Versions versions) {
    server.put("/source?changes_shards=2");
    for (int batch = 0; batch < 5; batch++) {
      String docs = "{\"ch\":\"a\",\"v\":" + batch + "},";
      server.post("/source/_bulk_docs", "{\"docs\":[" + docs.repeat(499) + "{}]}");
    }
    copy(versions);
    server.write("/moved/_design/d", VIEWS);
    server.put("/moved/_feeds/f", "{\"channels\":\"ch\"}");
    server.post("/moved/_index", "{\"index\":{\"fields\":[\"v\"]}}");
    assertThat(server.get("/moved/_design/d/_view/v?limit=0").body())
        .contains("\"total_rows\":2500");
    Await.until(
        "it is filled", () -> server.get("/moved/_feeds/f").member("state").equals("ready"));
    assertThat(changes("?filter=_feed/f&channel=a")).hasSize(5 * 499);
    String found = server.post("/moved/_find", "{\"selector\":{\"v\":4},\"limit\":5000}").body();
    assertThat(found.split("\"_id\"", -1)).hasSize(499 + 1);
  }

  @ParameterizedTest
  @EnumSource
  void purges(Versions versions) {
    server.put("/source");
    for (String id : List.of("a", "b", "c")) {
      purge("/source", id);
    }
    String last = server.get("/source").member("update_seq");
    copy(versions);
    assertThat(server.get("/moved").member("purge_seq")).isEqualTo(moved(last));
    assertThat(server.get("/moved").member("update_seq")).isEqualTo(moved(last));
    assertThat(purged()).containsExactly("a", "b", "c");

    server.put("/moved/_purged_infos_limit", "2");
    purge("/moved", "d");
    assertThat(purged()).containsExactly("c", "d");
    assertThat(server.get("/moved").member("purge_seq")).startsWith("1501");
    assertThat(changes("?since=" + moved(last))).isEmpty();
  }

  private void purge(String db, String id) {
    String rev = server.write(db + "/" + id, "{}");
    server.post(db + "/_purge", "{\"" + id + "\":[\"" + rev + "\"]}");
  }

  private List<String> purged() {
    return Pattern.compile("\"id\":\"([^\"]*)\"")
        .matcher(server.get("/moved/_purged_infos").body())
        .results()
        .map(it -> it.group(1))
        .toList();
  }
}
