package lectus.http.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.config.DocumentKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Databases that were deleted come back with all they had, for as long as they are kept. */
final class DeletedDatabasesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final Pattern TIMESTAMP = Pattern.compile("\"timestamp\":\"([^\"]*)\"");

  private static final Pattern NAME = Pattern.compile("\"db_name\":\"([^\"]*)\"");

  private final Store store = stores.fresh();
  @AutoClose private final LectusServer server = keeping(store);

  private static LectusServer keeping(Store store) {
    return LectusServer.start(
        store, new TestSettings().with(DocumentKeys.KEEP_DELETED_SECONDS, 3_600));
  }

  private List<String> timestamps(String name) {
    String body = server.get("/_deleted_dbs?key=%22" + name + "%22").body();
    return TIMESTAMP.matcher(body).results().map(it -> it.group(1)).toList();
  }

  private List<String> listed(String query) {
    Answer answer = server.get("/_deleted_dbs" + query).expect(200);
    return NAME.matcher(answer.body()).results().map(it -> it.group(1)).toList();
  }

  private Answer undelete(String source, String timestamp, String more) {
    return server.post(
        "/_deleted_dbs",
        "{\"undelete\":{\"source\":\"%s\",\"timestamp\":\"%s\"%s}}"
            .formatted(source, timestamp, more));
  }

  private void assertComesBack(String source, String target) {
    String more = source.equals(target) ? "" : ",\"target\":\"" + target + "\"";
    Answer answer = undelete(source, timestamps(source).get(0), more).expect("{\"ok\":true}\n");
    answer.expect(200);
  }

  @Test
  void for_how_long_they_are_kept_changes_while_servers_run() {
    String setting = "/_node/_local/_config/couchdb/db_expiration_retention_sec";
    server.put(setting, "\"0\"").expect("\"3600\"\n");
    server.put("/gone");
    server.delete("/gone");
    server.put(setting, "\"60\"").expect("\"0\"\n");
    server.put("/kept");
    server.delete("/kept");
    assertThat(listed("")).containsExactly("kept");
    for (String wrong : List.of("-1", "3153600001", "1 d")) {
      server.put(setting, '"' + wrong + '"').expect(400);
    }
    server.get(setting).expect("\"60\"\n");
  }

  /** Makes a database with something of each kind. */
  private void fill() {
    server.put("/w?changes_shards=2");
    server.put("/w/_revs_limit", "17");
    server.put("/w/_security", "{\"members\":{\"names\":[\"ann\"]}}");
    for (int i = 0; i < 20; i++) {
      server.write("/w/d" + i, "{\"ch\":\"a\",\"v\":" + i + "}");
    }
    server.write("/w/_local/l", "{\"m\":1}");
    server.put("/w/_feeds/f", "{\"channels\":\"ch\"}");
    server.post("/w/_index", "{\"index\":{\"fields\":[\"v\"]},\"ddoc\":\"i\",\"name\":\"i\"}");
    server.write("/w/_design/d", "{\"views\":{\"v\":{\"map\":\"function (d) { emit(d.v); }\"}}}");
    server.get("/w/_design/d/_view/v");
    String rev = server.write("/w/attached", "{}");
    server
        .request("PUT", "/w/attached/a?rev=" + rev, "Content-Type", "text/plain")
        .body("some text".getBytes(StandardCharsets.UTF_8))
        .send();
    server.delete("/w/d3?rev=" + server.get("/w/d3").member("_rev"));
  }

  /** Returns the answers to requests about everything. */
  private List<String> answers(String db) {
    return Stream.of(
            "/_changes?include_docs=true&attachments=true",
            "/_all_docs?include_docs=true",
            "/_local/l",
            "/_revs_limit",
            "/_security",
            "/_feeds",
            "/_index",
            "/_changes?filter=_feed/f&channel=a",
            "/_design/d/_view/v",
            "/_changes/_meta")
        .map(path -> server.get(db + path).body())
        .toList();
  }

  @Test
  void a_database_comes_back_with_all_that_it_had() {
    fill();
    List<String> before = answers("/w");
    String created = server.get("/w").member("instance_start_time");
    String last = server.get("/w").member("update_seq");
    server.delete("/w");
    server.get("/w").expect(404);
    server.put("/w/d1", "{}").expect(404);

    String info = server.get("/_deleted_dbs?key=%22w%22").body();
    assertThat(info)
        .startsWith("[{")
        .endsWith("}]\n")
        .contains("\"db_name\":\"w\"", "\"doc_count\":22", "\"doc_del_count\":1", last)
        .contains(",\"deleted\":true,\"timestamp\":\"" + timestamps("w").get(0) + "\"}");
    assertComesBack("w", "w");
    assertThat(answers("/w")).isEqualTo(before);
    assertThat(server.get("/w").member("instance_start_time")).isEqualTo(created);
    assertThat(listed("")).isEmpty();

    server.write("/w/new", "{\"ch\":\"a\",\"v\":50}");
    assertThat(server.get("/w/_changes?since=" + last).body())
        .contains("\"new\"")
        .doesNotContain("\"d1\"");
    assertThat(server.get("/w").member("update_seq")).startsWith("1501");
    assertThat(server.get("/w/_design/d/_view/v").body()).contains("\"new\"", "\"d7\"");
    assertThat(server.post("/w/_find", "{\"selector\":{\"v\":{\"$gt\":18}}}").body())
        .contains("\"d19\"", "\"new\"")
        .doesNotContain("warning");
    server.delete("/w");
    assertComesBack("w", "w");
    assertThat(server.get("/w").member("update_seq")).startsWith("1501");
    server.write("/w/newer", "{}");
    assertThat(server.get("/w").member("update_seq")).startsWith("1502");
  }

  @Test
  void several_of_a_name_and_another_name_for_one() {
    for (int i = 0; i < 3; i++) {
      server.put("/w");
      server.write("/w/d" + i, "{}");
      server.delete("/w");
    }
    List<String> all = timestamps("w");
    assertThat(all).hasSize(3).doesNotHaveDuplicates().isSorted();
    server.put("/w");
    undelete("w", all.get(1), "").expect(412);
    assertThat(undelete("w", all.get(1), "").member("error")).isEqualTo("file_exists");

    undelete("w", all.get(1), ",\"target\":\"other\"").expect(200);
    server.get("/other/d1").expect(200);
    undelete("w", all.get(1), ",\"target\":\"another\"").expect(404);
    assertThat(timestamps("w")).containsExactly(all.get(0), all.get(2));
    String newest = "?start_key=[%22w%22,%22" + all.get(1) + "%22]";
    assertThat(server.get("/_deleted_dbs" + newest).body())
        .contains(all.get(2))
        .doesNotContain(all.get(0));
  }

  @Test
  void the_list_is_read_in_parts() {
    List<String> names = new ArrayList<>();
    for (int i = 10; i < 65; i++) {
      names.add("w" + i);
      server.put("/w" + i);
      server.delete("/w" + i);
    }
    assertThat(listed("")).isEqualTo(names);
    assertThat(listed("?skip=52")).isEqualTo(names.subList(52, 55));
    assertThat(listed("?skip=49&limit=3")).isEqualTo(names.subList(49, 52));
    assertThat(listed("?limit=0")).isEmpty();
    assertThat(listed("?start_key=%22w12%22&end_key=%22w14%22"))
        .containsExactly("w12", "w13", "w14");
    assertThat(listed("?start_key=%22w12%22&end_key=%22w14%22&inclusive_end=false"))
        .containsExactly("w12", "w13");
    assertThat(listed("?descending=true&start_key=%22w12%22")).containsExactly("w12", "w11", "w10");
    assertThat(listed("?descending=true&end_key=%22w63%22")).containsExactly("w64", "w63");
  }

  @Test
  void one_is_removed_for_good() {
    fill();
    server.delete("/w");
    String timestamp = timestamps("w").get(0);
    server.delete("/_deleted_dbs/w").expect(400);
    server.delete("/_deleted_dbs/w?timestamp=2020-01-01T00:00:00Z").expect(404);
    server.delete("/_deleted_dbs/w?timestamp=%22" + timestamp + "%22").expect("{\"ok\":true}\n");
    assertThat(timestamps("w")).isEmpty();
    server.delete("/_deleted_dbs/w?timestamp=" + timestamp).expect(404);
    undelete("w", timestamp, "").expect(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "{\"undelete\":1}",
        "{\"undelete\":{}}",
        "{\"undelete\":{\"source\":\"w\"}}",
        "{\"undelete\":{\"source\":\"w\",\"timestamp\":1}}",
        "{\"undelete\":{\"source\":\"W\",\"timestamp\":\"2020-01-01T00:00:00Z\"}}",
        "{\"undelete\":{\"source\":\"w\",\"timestamp\":\"2020-01-01T00:00:00Z\",\"target\":\"W\"}}",
        "{\"undelete\":{\"source\":\"_users\",\"timestamp\":\"2020-01-01T00:00:00Z\","
            + "\"target\":\"w\"}}"
      })
  void what_names_no_database_is_refused(String body) {
    server.post("/_deleted_dbs", body).expect(400);
  }

  @Test
  void faulty_requests() {
    undelete("w", "2020-01-01T00:00:00Z", "").expect(404);
    undelete("w", "yesterday", "").expect(404);
    server.get("/_deleted_dbs?key=[%22w%22,%22yesterday%22]").expect(400);
    server.get("/_deleted_dbs?key=1").expect(400);
    server.delete("/_deleted_dbs").expect(405);
    server.get("/_deleted_dbs/w").expect(405);
    server.get("/_deleted_dbs/w/x").expect(404);
  }

  @Test
  void readers_see_it_leave_and_come_again() {
    server.put("/w");
    server.write("/w/a", "{}");
    try (Conversation many = Conversation.with(server);
        Conversation one = Conversation.with(server);
        Connection feed =
            server.request("GET", "/w/_changes?feed=continuous&heartbeat=60000").open()) {
      feed.readHead();
      assertThat(feed.chunkText()).contains("\"a\"");
      many.subscribe("s", "'db':'w*','since':'0'");
      many.row("s", "a");
      many.caughtUp("s");
      one.subscribe("s", "'db':'w','since':'0'");
      String at = one.row("s", "a");
      one.caughtUp("s");
      server.delete("/w");
      assertThat(one.socket().text()).contains("\"left\"");
      assertThat(one.end("s")).isEqualTo(at);
      assertThat(feed.chunkText()).contains("\"last_seq\"");
      assertThat(many.socket().text()).contains("\"left\"");

      assertComesBack("w", "w");
      String again = many.socket().text();
      while (again.contains("\"caught_up\"")) {
        again = many.socket().text();
      }
      assertThat(again).contains("\"row\"", "\"id\":\"a\"");
      one.subscribe("s", "'db':'w','since':'" + at + "'");
      one.caughtUp("s");
      server.write("/w/b", "{}");
      one.row("s", "b");
    }
    assertThat(server.get("/_db_updates").body().lines().filter(it -> it.contains("\"w\"")))
        .anyMatch(it -> it.contains("deleted"))
        .anyMatch(it -> it.contains("created"));
  }

  @Test
  void what_was_being_filled_goes_on() {
    server.put("/w");
    StringBuilder docs = new StringBuilder();
    for (int i = 0; i < 2_000; i++) {
      docs.append(i == 0 ? "" : ",").append("{\"ch\":\"a\"}");
    }
    server.post("/w/_bulk_docs", "{\"docs\":[" + docs + "]}");
    server.put("/w/_feeds/f", "{\"channels\":\"ch\"}");
    server.delete("/w");
    assertComesBack("w", "w");
    Await.until("it is filled", () -> server.get("/w/_feeds/f").member("state").equals("ready"));
    assertThat(server.get("/w/_changes?filter=_feed/f&channel=a").body().lines())
        .filteredOn(it -> it.contains("\"id\""))
        .hasSize(2_000);
  }

  @Test
  void without_the_setting_a_database_is_gone_at_once() {
    try (LectusServer other = LectusServer.start(store)) {
      other.put("/w");
      other.delete("/w");
      other.get("/_deleted_dbs").expect("[]\n");
    }
  }
}
