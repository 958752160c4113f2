package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.audit.testing.SoundStore;
import lectus.database.testing.BeforeShards;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shards of the changes (RFC 018): their number, {@code _changes/_meta}, and a feed of each. */
final class ChangesShardsResourceTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  private static final Pattern ID = Pattern.compile("\"id\":\"(\\w+)\"");

  private String reshard(int shards) {
    return server.put("/w/_changes/_meta", "{\"shards\":" + shards + "}").member("since");
  }

  private String updateSequence() {
    return server.get("/w").member("update_seq");
  }

  private void write(String... ids) {
    for (String id : ids) {
      server.write("/w/" + id, "{}");
    }
  }

  private static List<String> ids(Answer answer) {
    return ids(answer.body());
  }

  private static List<String> ids(String body) {
    List<String> ids = new ArrayList<>();
    Matcher matcher = ID.matcher(body);
    while (matcher.find()) {
      ids.add(matcher.group(1));
    }
    return ids;
  }

  @Test
  void a_database_is_created_with_as_many_shards_as_are_asked_for() {
    for (int shards : new int[] {1, 4, 1024}) {
      server.put("/s" + shards + "?changes_shards=" + shards).expect(201);
      assertThat(server.get("/s" + shards).body()).contains("\"q\":" + shards + ",");
    }
    server
        .get("/s4/_changes/_meta")
        .expect(
            "{\"update_seq\":\"0\",\"generations\":[{\"since\":\"0\",\"until\":null,"
                + "\"hash\":\"jump-crc32\",\"shards\":[\"0\",\"1\",\"2\",\"3\"]}]}\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1025", "-1", "x", "", "1.5", "99999999999"})
  void a_bad_number_of_shards_creates_nothing(String shards) {
    server.put("/bad?changes_shards=" + shards).expect(400);
    server.get("/bad").expect(404);
  }

  @Test
  void resharding_answers_where_the_new_shards_begin() {
    write("a", "b");
    String before = updateSequence();

    Answer answer = server.put("/w/_changes/_meta", "{\"shards\":3}").expect(202);
    String since = answer.member("since");
    answer.expect("{\"ok\":true,\"since\":\"" + since + "\",\"shards\":[\"1\",\"2\",\"3\"]}\n");
    assertThat(since).isGreaterThan(before);
    assertThat(updateSequence()).isEqualTo(since);
    assertThat(server.get("/w/_changes").member("last_seq")).isEqualTo(since);
    assertThat(server.get("/w/_changes?since=now").member("last_seq")).isEqualTo(since);
    assertThat(server.get("/w").body()).contains("\"q\":3,");
    write("c");
    assertThat(updateSequence()).isGreaterThan(since);
    assertThat(ids(server.get("/w/_changes"))).containsExactly("a", "b", "c");
    assertThat(ids(server.get("/w/_changes?since=" + since))).containsExactly("c");
    assertThat(ids(server.get("/w/_changes?descending=true"))).containsExactly("c", "b", "a");
  }

  @Test
  void the_topology_is_told_from_where_a_reader_goes_on() {
    String first = "{\"since\":\"0\",\"until\":\"%s\",\"hash\":\"jump-crc32\",\"shards\":[\"0\"]}";
    String two = "{\"since\":\"%s\",\"until\":%s,\"hash\":\"jump-crc32\",\"shards\":[\"1\",\"2\"]}";
    String one = "{\"since\":\"%s\",\"until\":null,\"hash\":\"jump-crc32\",\"shards\":[\"3\"]}";
    write("a");
    String a = updateSequence();
    String second = reshard(2);
    write("b");
    String b = updateSequence();
    String third = reshard(1);
    String all =
        String.join(
            ",",
            first.formatted(second),
            two.formatted(second, '"' + third + '"'),
            one.formatted(third));

    assertThat(meta("")).isEqualTo(topology(third, all));
    assertThat(meta("?since=0")).isEqualTo(topology(third, all));
    assertThat(meta("?since=" + a)).isEqualTo(topology(third, all));
    for (String since : List.of(second, b, '"' + b + '"')) {
      assertThat(meta("?since=" + since.replace("\"", "%22")))
          .isEqualTo(topology(third, all.substring(all.indexOf("},{") + 2)));
    }
    for (String since : List.of(third, "now")) {
      assertThat(meta("?since=" + since)).isEqualTo(topology(third, one.formatted(third)));
    }
    server.head("/w/_changes/_meta").expect(200);
  }

  @Test
  void of_generations_that_were_emptied_is_told_that_nothing_is_there() {
    String until = "";
    for (int i = 0; i < 20; i++) {
      until = reshard(3);
    }
    assertThat(meta(""))
        .startsWith(
            "{\"update_seq\":\"" + until + "\",\"generations\":[{\"since\":\"0\",\"until\":\"")
        .contains("\",\"hash\":null,\"shards\":[]},{\"since\":\"")
        .hasSizeLessThan(600);
    assertThat(server.get("/w/_changes/1").body()).contains("\"resharded\":{\"seq\":\"");
    server.get("/w/_changes/61").expect(404);
  }

  @Test
  void too_many_generations_with_rows_are_a_conflict() {
    for (int i = 1; i < 64; i++) {
      write("d" + i);
      reshard(1);
    }
    server.put("/w/_changes/_meta", "{\"shards\":1}").expect(202);
    write("one_more");

    Answer refused = server.put("/w/_changes/_meta", "{\"shards\":1}").expect(409);
    assertThat(refused.member("error")).isEqualTo("conflict");
    assertThat(refused.member("reason")).contains("64 generations");
    assertThat(ids(server.get("/w/_changes"))).hasSize(64);
  }

  private String meta(String query) {
    return server.get("/w/_changes/_meta" + query).body();
  }

  private static String topology(String last, String generations) {
    return "{\"update_seq\":\"" + last + "\",\"generations\":[" + generations + "]}\n";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "4",
        "{}",
        "{\"shards\":null}",
        "{\"shards\":\"4\"}",
        "{\"shards\":0}",
        "{\"shards\":1025}",
        "{\"shards\":-1}",
        "{\"shards\":1.5}",
        "{\"shards\":4.0}",
        "{\"shards\":1e2}",
        "{\"shards\":[4]}",
        "{\"shards\":99999999999}"
      })
  void what_is_no_number_of_shards_changes_nothing(String body) {
    Answer answer = server.put("/w/_changes/_meta", body).expect(400);
    assertThat(answer.member("error")).isEqualTo("bad_request");
    assertThat(updateSequence()).isEqualTo("0");
  }

  @Test
  void what_is_not_there_is_404_and_what_cannot_be_done_405() {
    server.get("/none/_changes/_meta").expect(404);
    server.put("/none/_changes/_meta", "{\"shards\":2}").expect(404);
    server.get("/none/_changes/0").expect(404);
    for (String shard : List.of("1", "00", "_x", "deprecated", "%20", "0%2F")) {
      for (String feed : List.of("", "?feed=longpoll", "?feed=continuous")) {
        assertThat(server.get("/w/_changes/" + shard + feed).member("error"))
            .as(shard + feed)
            .isEqualTo("not_found");
      }
    }
    server.head("/w/_changes/1").expect(404);
    server.head("/w/_changes/0").expect(200);
    server.get("/w/_changes/_meta?since=5").expect(400);
    Answer post = server.post("/w/_changes/_meta", "{\"shards\":2}").expect(405);
    assertThat(post.header("allow")).isEqualTo("GET,HEAD,PUT");
    server.delete("/w/_changes/0").expect(405);
    server.request("POST", "/w/_changes/0").body(new byte[0]).send().expect(415);
    server.get("/w/_changes/0?since=5").expect(400);
  }

  @Test
  void the_shards_together_have_every_row_once() {
    reshard(4);
    for (int i = 0; i < 40; i++) {
      write("d" + i);
    }
    List<String> merged = ids(server.get("/w/_changes"));
    List<String> byShard = new ArrayList<>();
    for (int shard = 1; shard <= 4; shard++) {
      List<String> rows = ids(server.get("/w/_changes/" + shard));
      assertThat(merged).containsSubsequence(rows);
      byShard.addAll(rows);
    }
    assertThat(byShard).containsExactlyInAnyOrderElementsOf(merged).hasSize(40);
  }

  @Test
  void a_shard_takes_the_parameters_of_changes() {
    write("a", "b");
    server.write("/w/a?new_edits=false", "{\"_rev\":\"1-x\"}");
    server.write("/w/_design/d", "{}");
    for (String query :
        List.of(
            "style=all_docs",
            "include_docs=true&conflicts=true",
            "limit=1",
            "limit=0",
            "descending=true",
            "filter=_design",
            "filter=_doc_ids&doc_ids=[%22a%22]",
            "seq_interval=2",
            "since=now",
            "feed=longpoll")) {
      assertThat(server.get("/w/_changes/0?" + query).body())
          .as(query)
          .isEqualTo(server.get("/w/_changes?" + query).body());
    }
    String ids = "{\"doc_ids\":[\"b\"]}";
    assertThat(server.post("/w/_changes/0?filter=_doc_ids", ids).body())
        .isEqualTo(server.post("/w/_changes?filter=_doc_ids", ids).body())
        .contains("\"id\":\"b\"")
        .doesNotContain("\"id\":\"a\"");
  }

  @Test
  void at_the_end_of_a_replaced_shard_stands_where_to_go_on() {
    write("a", "b");
    String b = updateSequence();
    String second = reshard(2);
    write("c");
    String c = updateSequence();
    String third = reshard(1);
    String notice = ",\"resharded\":{\"seq\":\"%s\",\"shards\":[%s]}}\n";
    String toSecond = notice.formatted(second, "\"1\",\"2\"");
    String end = "\n],\n\"last_seq\":\"%s\",\"pending\":0";

    for (String query : List.of("", "?since=" + b, "?feed=longpoll", "?filter=_design")) {
      assertThat(server.get("/w/_changes/0" + query).body())
          .endsWith(end.formatted(second) + toSecond);
    }
    assertThat(ids(server.get("/w/_changes/0"))).containsExactly("a", "b");
    assertThat(server.get("/w/_changes/0?limit=1").body())
        .doesNotContain("resharded")
        .endsWith("\"pending\":1}\n");
    server
        .get("/w/_changes/0?since=" + second)
        .expect("{\"results\":[\n" + end.formatted(second) + toSecond);
    server.get("/w/_changes/0?since=" + c).expect("{\"results\":[\n" + end.formatted(c) + toSecond);
    server
        .get("/w/_changes/0?since=now")
        .expect("{\"results\":[\n" + end.formatted(third) + notice.formatted(third, "\"3\""));
    server.get("/w/_changes/3").expect("{\"results\":[\n" + end.formatted(third) + "}\n");
    assertThat(server.get("/w/_changes/0?descending=true").body()).doesNotContain("resharded");
  }

  @Test
  void a_reader_that_follows_the_notices_misses_nothing() {
    TreeSet<String> written = new TreeSet<>();
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 8; i++) {
        write("r" + round + "d" + i);
        written.add("r" + round + "d" + i);
      }
      reshard(1 + round);
    }
    List<String> seen = new ArrayList<>();
    List<String> shards = List.of("0");
    String since = "0";
    while (!shards.isEmpty()) {
      List<String> next = List.of();
      String at = since;
      for (String shard : shards) {
        String body = server.get("/w/_changes/" + shard + "?since=" + since).body();
        seen.addAll(ids(body));
        Matcher notice = Pattern.compile("\"seq\":\"(\\w+)\",\"shards\":\\[(.*)]").matcher(body);
        if (notice.find()) {
          at = notice.group(1);
          next = List.of(notice.group(2).replace("\"", "").split(","));
        }
      }
      since = at;
      shards = next;
    }
    assertThat(seen).containsExactlyInAnyOrderElementsOf(written);
    assertThat(since).isEqualTo(updateSequence());
  }

  @Test
  void a_live_shard_shows_its_own_rows_and_ends_when_it_is_replaced() {
    reshard(2);
    try (Connection one = live("/w/_changes/1?feed=continuous&heartbeat=60000");
        Connection two = live("/w/_changes/2?feed=continuous&heartbeat=60000")) {
      for (int i = 0; i < 20; i++) {
        write("d" + i);
      }
      String since = reshard(3);

      List<String> lines = new ArrayList<>();
      for (Connection feed : List.of(one, two)) {
        String body = feed.rest();
        lines.addAll(ids(body));
        assertThat(body)
            .endsWith(
                "{\"resharded\":{\"seq\":\"%s\",\"shards\":[\"3\",\"4\",\"5\"]},\"last_seq\":\"%s\"}\n"
                    .formatted(since, since));
      }
      assertThat(lines)
          .containsExactlyInAnyOrderElementsOf(ids(server.get("/w/_changes")))
          .hasSize(20);
    }
  }

  @Test
  void events_of_a_shard_end_with_where_to_go_on() {
    try (Connection feed = live("/w/_changes/0?feed=eventsource&heartbeat=60000")) {
      write("a");
      String since = reshard(1);

      String body = feed.rest();
      assertThat(ids(body)).containsExactly("a");
      assertThat(body)
          .endsWith(
              "data: {\"resharded\":{\"seq\":\"%s\",\"shards\":[\"1\"]},\"last_seq\":\"%s\"}\nid: \"%s\"\n\n"
                  .formatted(since, since, since));
    }
  }

  /** A browser's EventSource reconnects for ever, unless it is answered 204. */
  @Test
  void a_browser_that_has_read_a_replaced_shard_is_sent_away() {
    write("a");
    String a = server.get("/w").member("update_seq");
    String since = reshard(1);

    String feed = "/w/_changes/0?feed=eventsource&heartbeat=60000";
    for (String id : new String[] {since, '"' + since + '"', a}) {
      Answer away = server.request("GET", feed, "Last-Event-ID", id).send();
      assertThat(away.status()).as(id).isEqualTo(204);
      assertThat(away.header("x-couch-request-id")).isNotNull();
    }
    Answer first = server.get(feed).expect(200);
    assertThat(first.body()).contains("\"resharded\"");
    Answer behind = server.request("GET", feed, "Last-Event-ID", "0").send().expect(200);
    assertThat(ids(behind.body())).containsExactly("a");
    server
        .request("GET", feed + "&filter=_doc_ids&doc_ids=[]", "Last-Event-ID", "0")
        .send()
        .expect(204);
  }

  @Test
  void a_browser_that_comes_again_to_a_living_shard_is_answered_at_once() {
    write("a");
    String a = server.get("/w").member("update_seq");
    try (Connection feed =
        server
            .request("GET", "/w/_changes/0?feed=eventsource&heartbeat=60000", "Last-Event-ID", a)
            .open()) {
      feed.readHead().expect(200);
      write("b");
      assertThat(feed.chunkText()).contains("\"id\":\"b\"");
    }
  }

  @Test
  void readers_of_all_shards_up_to_a_sequence_come_to_one_end() {
    reshard(4);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      write("d" + i);
      expected.add("d" + i);
    }
    String until = updateSequence();
    write("later");
    for (String feed : List.of("normal", "longpoll", "continuous")) {
      List<String> seen = new ArrayList<>();
      for (int shard = 1; shard <= 4; shard++) {
        String query = "?until=" + until + "&heartbeat=60000&feed=" + feed;
        String body = server.get("/w/_changes/" + shard + query).body();
        assertThat(body).contains("\"last_seq\":\"" + until + "\"");
        seen.addAll(ids(body));
      }
      assertThat(seen).as(feed).containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  @Test
  void a_bound_before_the_end_of_a_replaced_shard_comes_first() {
    write("a");
    String a = updateSequence();
    write("b");
    String since = reshard(2);

    assertThat(server.get("/w/_changes/0?until=" + a).body())
        .contains("\"id\":\"a\"")
        .doesNotContain("\"id\":\"b\"", "resharded");
    assertThat(server.get("/w/_changes/0?until=" + since).body())
        .contains("\"id\":\"b\"", "\"resharded\":{\"seq\":\"" + since + "\"");
  }

  @Test
  void a_long_poll_of_a_shard_ends_when_it_is_replaced() {
    try (Connection feed = live("/w/_changes/0?feed=longpoll&heartbeat=60000")) {
      assertThat(feed.chunkText()).isEqualTo("{\"results\":[\n");
      String since = reshard(1);

      assertThat(feed.rest())
          .isEqualTo(
              ("\n],\n\"last_seq\":\"%s\",\"pending\":0,"
                      + "\"resharded\":{\"seq\":\"%s\",\"shards\":[\"1\"]}}\n")
                  .formatted(since, since));
    }
  }

  @Test
  void a_live_feed_of_the_database_goes_on_through_a_reshard() {
    try (Connection feed = live("/w/_changes?feed=continuous&heartbeat=60000")) {
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 5; i++) {
          write("r" + round + "d" + i);
          assertThat(feed.chunkText()).contains("\"id\":\"r" + round + "d" + i + "\"");
        }
        reshard(1 + 3 * round);
      }
    }
  }

  private Connection live(String target) {
    Connection feed = server.request("GET", target).open();
    feed.readHead().expect(200);
    return feed;
  }

  /** RFC 018, Backwards Compatibility: from the deprecated shard to its successors. */
  @Nested
  class BeforeShardsFeed {
    @RegisterExtension static final TestStores stores = SoundStore.stores();

    private static final Pattern NOTICE =
        Pattern.compile("\"resharded\":\\{\"seq\":\"(\\w+)\",\"shards\":\\[\"(\\w+)\"]}");

    private Store store;
    @AutoClose private LectusServer server;

    @BeforeEach
    void lay() {
      store = stores.fresh();
      TestDatabase old = TestDatabase.create(store);
      old.put("a", "{}");
      old.put("b", "{}");
      BeforeShards.lay(old.transactions, old.catalogue.open(old.name));
      server = LectusServer.start(store);
    }

    private Matcher notice(String body) {
      Matcher notice = NOTICE.matcher(body);
      assertThat(notice.find()).as(body).isTrue();
      return notice;
    }

    private String next(Matcher notice) {
      return server.get("/db/_changes/" + notice.group(2) + "?since=" + notice.group(1)).body();
    }

    @Test
    void a_reader_that_follows_the_notice_sees_the_first_document() {
      server.write("/db/first", "{}");

      String deprecated = server.get("/db/_changes/deprecated").body();

      assertThat(deprecated).contains("\"id\":\"a\"", "\"id\":\"b\"").doesNotContain("first");
      assertThat(next(notice(deprecated))).contains("\"id\":\"first\"");
    }

    @Test
    void so_does_one_that_comes_with_many() {
      server.post("/db/_bulk_docs", "{\"docs\":[{\"_id\":\"first\"},{\"_id\":\"second\"}]}");

      String rows = next(notice(server.get("/db/_changes/deprecated").body()));

      assertThat(rows).contains("\"id\":\"first\"", "\"id\":\"second\"");
    }

    @Test
    void so_does_a_live_reader() {
      try (Connection feed =
          server
              .request("GET", "/db/_changes/deprecated?feed=longpoll&since=now&heartbeat=60000")
              .open()) {
        feed.readHead();
        assertThat(feed.chunkText()).isEqualTo("{\"results\":[\n");
        server.write("/db/first", "{}");

        assertThat(next(notice(feed.rest()))).contains("\"id\":\"first\"");
      }
    }

    @Test
    void a_reader_of_the_whole_database_that_knows_where_the_shard_begins_sees_it() {
      server.write("/db/first", "{}");

      String since = notice(server.get("/db/_changes/deprecated").body()).group(1);

      assertThat(server.get("/db/_changes?since=" + since).body()).contains("\"id\":\"first\"");
      assertThat(server.get("/db").member("update_seq")).isGreaterThan(since);
    }
  }
}
