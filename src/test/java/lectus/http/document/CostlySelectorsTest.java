package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Selectors of indexes and stored feeds that would take a write too long, and queries that look at
 * every document and take long for each.
 */
final class CostlySelectorsTest {
  /** Some ten instructions for each character. */
  private static final String COSTLY = "{\"t\":{\"$regex\":\"(x|y|z)*(x|y|z)*0$\"}}";

  private static final String CHEAP = "{\"n\":1}";

  /** What one selector can look at, but not two of them. */
  private static final String LONG = "x".repeat(40_000);

  private static final String LONGER = "x".repeat(100_000);

  private static final int DOCUMENTS = 2_000;

  private static final int BATCH = 400;

  private static final int CLIENTS = 20;

  private static final int REQUESTS = 4;

  @RegisterExtension static final LectusServer server = LectusServer.shared("/w");

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private Answer index(String name, String filter) {
    return server.post(
        "/w/_index",
        ("{\"index\":{\"fields\":[\"n\"],\"partial_filter_selector\":" + filter + "},\"ddoc\":\"")
            + (name + "\",\"name\":\"" + name + "\"}"));
  }

  private Answer feed(String name, String selector) {
    return server.put("/w/_feeds/" + name, "{\"selector\":" + selector + "}");
  }

  private String write(String id, String rev, String text) {
    String base = rev.isEmpty() ? "" : "\"_rev\":\"" + rev + "\",";
    return server.write("/w/" + id, "{" + base + "\"n\":1,\"t\":\"" + text + "\"}");
  }

  private String refusedByIndex(String name) {
    return server
        .get("/w/_index")
        .body()
        .replaceAll(".*\"name\":\"" + name + "\"", "")
        .replaceAll("\"name\":.*", "");
  }

  private String inIndex(String name) {
    return server
        .post(
            "/w/_find",
            "{\"selector\":{\"n\":1},\"fields\":[\"_id\"],\"use_index\":\"" + name + "\"}")
        .body();
  }

  private String changes(String feed) {
    return server.get("/w/_changes?filter=_feed/" + feed).body();
  }

  @Test
  void a_definition_has_so_many_instructions_at_most() {
    String most = "{\"t\":{\"$regex\":\"" + "a".repeat(498) + "\"}}";
    String more = "{\"t\":{\"$regex\":\"" + "a".repeat(499) + "\"}}";

    index("most", most).expect(200);
    index("more", more).expect(400);
    assertThat(index("more", more).member("error")).isEqualTo("invalid_index");
    feed("most", most).expect(201);
    feed("more", more).expect(400);
    assertThat(feed("more", more).member("error")).isEqualTo("invalid_selector");
  }

  @Test
  void a_document_for_which_a_selector_takes_too_much_work_is_left_out_by_name() {
    index("i", COSTLY);
    feed("f", COSTLY);
    String short0 = "x".repeat(9_000) + "0";
    String rev = write("d", "", LONGER);
    write("e", "", short0);

    assertThat(refusedByIndex("i")).contains("\"refused\":[{\"id\":\"d\"").doesNotContain("\"e\"");
    assertThat(server.get("/w/_feeds/f").body()).contains("\"refused\":[{\"id\":\"d\"");
    assertThat(changes("f")).contains("\"id\":\"e\"").doesNotContain("\"id\":\"d\"");

    rev = write("d", rev, short0);
    assertThat(refusedByIndex("i")).doesNotContain("refused");
    assertThat(server.get("/w/_feeds/f").body()).doesNotContain("refused");
    assertThat(changes("f")).contains("\"id\":\"d\"");

    rev = write("d", rev, LONGER);
    assertThat(refusedByIndex("i")).contains("refused");
    assertThat(changes("f")).doesNotContain("\"id\":\"d\"");
    server.delete("/w/d?rev=" + rev).expect(200);
    assertThat(refusedByIndex("i")).doesNotContain("refused");
    assertThat(server.get("/w/_feeds/f").body()).doesNotContain("refused");
  }

  @Test
  void all_share_what_a_write_may_take_and_a_cheap_one_is_never_left_without() {
    index("i1", COSTLY);
    index("i2", COSTLY);
    index("i3", CHEAP);
    feed("f1", COSTLY);
    feed("f2", CHEAP);
    String rev = write("d", "", LONG + "0");

    assertThat(refusedByIndex("i1")).doesNotContain("refused");
    assertThat(inIndex("i1")).contains("\"d\"");
    assertThat(refusedByIndex("i2")).contains("refused");
    assertThat(inIndex("i3")).contains("\"d\"");
    assertThat(server.get("/w/_feeds/f1").body()).contains("refused");
    assertThat(changes("f2")).contains("\"d\"");

    server.delete("/w/_index/i1/json/i1").expect(200);
    rev = write("d", rev, LONG + "0");
    assertThat(refusedByIndex("i2")).doesNotContain("refused");
    assertThat(inIndex("i2")).contains("\"d\"");

    index("i1", COSTLY);
    assertThat(inIndex("i1")).as("alone it has room for it").contains("\"d\"");
    rev = write("d", rev, LONG + "0");
    assertThat(refusedByIndex("i2")).doesNotContain("refused");
    assertThat(refusedByIndex("i1")).contains("refused");
    assertThat(inIndex("i1")).doesNotContain("\"d\"");
    write("d", rev, "0");
    assertThat(refusedByIndex("i1")).doesNotContain("refused");
  }

  @Test
  void live_readers_see_what_the_feed_took() {
    index("i", COSTLY);
    feed("f", COSTLY);
    try (Connection live =
        server.request("GET", "/w/_changes?feed=continuous&filter=_feed/f&since=now").open()) {
      live.readHead();
      write("refused", "", LONG + "0");
      write("taken", "", "0");

      assertThat(live.chunkText()).contains("\"id\":\"taken\"").doesNotContain("\"refused\"");
    }
    assertThat(changes("f")).contains("\"taken\"").doesNotContain("\"refused\"");
  }

  @Test
  void a_bulk_of_documents_that_are_all_costly_is_written() {
    for (int i = 0; i < 4; i++) {
      index("i" + i, COSTLY);
    }
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    for (int i = 0; i < 30; i++) {
      docs.append(i == 0 ? "" : ",").append("{\"n\":1,\"t\":\"" + LONG + "\"}");
    }
    Answer answer = server.post("/w/_bulk_docs", docs + "]}").expect(201);
    assertThat(answer.body()).doesNotContain("error");
    assertThat(server.get("/w").body()).contains("\"doc_count\":34,");
  }

  @Test
  void other_clients_are_answered_meanwhile_and_they_end_when_their_clients_leave() {
    try (LectusServer server = LectusServer.start(stores.fresh())) {
      server.put("/w");
      for (int from = 0; from < DOCUMENTS; from += BATCH) {
        server.post("/w/_bulk_docs", documents(from)).expect(201);
      }
      List<Connection> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(server.request("POST", "/w/_find").json(query()).open());
      }
      Await.until("they are answered", CostlySelectorsTest::isMatching);
      for (int i = 0; i < REQUESTS; i++) {
        server.get("/w/d" + i).expect(200);
        assertThat(server.post("/w/_find", "{\"selector\":{\"_id\":\"d1\"}}").body())
            .contains("d1");
      }
      Await.until("they are still answered", CostlySelectorsTest::isMatching);
      clients.forEach(Connection::close);
      Await.until("nobody is answered", () -> !isMatching());
    }
  }

  private static String documents(int from) {
    String text = "x".repeat(1_000);
    return IntStream.range(from, from + BATCH)
        .mapToObj(i -> "{\"_id\":\"d" + i + "\",\"t\":\"" + text + "\"}")
        .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
  }

  /** Each alternative looks at all of each text. */
  private static String query() {
    return IntStream.range(0, 20)
        .mapToObj(i -> "{\"t\":{\"$regex\":\"(x+x+)+(x+x+)+y" + i + "\"}}")
        .collect(Collectors.joining(",", "{\"selector\":{\"$or\":[", "]}}"));
  }

  private static boolean isMatching() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().equals("lectus.mango.query.FindPage"));
  }
}
