package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.audit.testing.SoundStore;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.http.testing.Answer;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.json.JsonLimits;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Documents of several megabytes through the server. */
final class LargeDocumentsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final String FIVE_MEGABYTES = "x".repeat(5_000_000);

  private final Store store = stores.fresh();

  private LectusServer server(JsonLimits limits) {
    TestSettings settings =
        new TestSettings()
            .maxRequestBytes(64 << 20)
            .documents(
                new DocumentLimits(
                    DocumentLimits.DEFAULT.idBytes(), limits, AttachmentSettings.DEFAULT));
    LectusServer server = LectusServer.start(store, settings);
    server.put("/w");
    return server;
  }

  private static String document(int bytes) {
    return "{\"v\":\"" + "x".repeat(bytes - 8) + "\"}";
  }

  private static void assertTooLarge(Answer answer) {
    answer.expect(413);
    assertThat(answer.member("error")).isEqualTo("document_too_large");
  }

  @Test
  void couchdbs_limit_is_eight_million_bytes() {
    try (LectusServer server = server(JsonLimits.couchDb())) {
      String rev = server.write("/w/a", document(8_000_000));
      assertTooLarge(server.put("/w/b", document(8_000_001)));
      server
          .get("/w/a")
          .expect(
              document(8_000_000).replace("{", "{\"_id\":\"a\",\"_rev\":\"" + rev + "\",") + "\n");
      server.get("/w/b").expect(404);
    }
  }

  @Test
  void the_rfcs_limits_are_a_million_bytes_and_a_hundred_kilobytes_a_string() {
    try (LectusServer server = server(JsonLimits.rfc004())) {
      String element = "\"" + "x".repeat(99_998) + "\"";
      String array = "{\"v\":[" + (element + ",").repeat(9) + "\"";
      String fits = array + "y".repeat(1_000_000 - array.length() - 3) + "\"]}";
      server.write("/w/a", fits);
      assertTooLarge(server.put("/w/b", fits.replace("\"]}", "y\"]}")));
      server.write("/w/c", document(99_998 + 8));
      assertTooLarge(server.put("/w/d", document(99_999 + 8)));
    }
  }

  @Test
  void what_the_other_limits_took_is_still_read() {
    String rev;
    try (LectusServer server = server(JsonLimits.couchDb())) {
      rev = server.write("/w/a", document(2_000_000));
    }
    try (LectusServer server = server(JsonLimits.rfc004())) {
      assertThat(server.get("/w/a").body())
          .hasSize(document(2_000_000).length() + "'_id':'a','_rev':'',\n".length() + rev.length());
      server.request("DELETE", "/w/a?rev=" + rev).send().expect(200);
    }
  }

  @Test
  void many_at_once_are_written_and_read() {
    try (LectusServer server = server(JsonLimits.couchDb())) {
      String docs =
          IntStream.range(0, 4)
              .mapToObj(i -> "{\"_id\":\"d" + i + "\",\"v\":\"" + FIVE_MEGABYTES + "\"}")
              .collect(Collectors.joining(",", "{\"docs\":[", "]"));
      Answer written = server.post("/w/_bulk_docs", docs + "}").expect(201);
      assertThat(written.body()).doesNotContain("error");

      Answer atomic =
          server
              .post("/w/_bulk_docs", docs.replace("_id\":\"d", "_id\":\"e") + ",\"atomic\":true}")
              .expect(413);
      assertThat(atomic.member("error")).isEqualTo("too_large");

      assertThat(server.get("/w/_changes?include_docs=true").body()).hasSizeGreaterThan(20_000_000);
      assertThat(server.get("/w/_changes?include_docs=true&descending=true&limit=2").body())
          .hasSizeBetween(10_000_000, 10_001_000);
      String selector = "{\"selector\":{\"v\":{\"$regex\":\"x$\"},\"_id\":{\"$gt\":\"d1\"}}}";
      assertThat(server.post("/w/_changes?filter=_selector", selector).body())
          .contains("\"id\":\"d2\"", "\"id\":\"d3\"")
          .doesNotContain("\"id\":\"d1\"");
      assertThat(server.get("/w/d3?fields=[\"w\"]".replace("\"", "%22")).body())
          .doesNotContain("xxx");
    }
  }

  @Test
  void local_ones_may_be_as_large() {
    try (LectusServer server = server(JsonLimits.couchDb())) {
      server.put("/w/_local/a", "{\"v\":\"" + FIVE_MEGABYTES + "\"}").expect(201);
      assertThat(server.get("/w/_local/a").body()).contains(FIVE_MEGABYTES);
      assertTooLarge(server.put("/w/_local/b", document(8_000_001)));
      server.delete("/w/_local/a").expect(200);
    }
  }

  @Test
  void a_row_may_be_larger_than_a_sockets_queue() {
    try (LectusServer server = server(JsonLimits.couchDb());
        Conversation client = Conversation.with(server)) {
      for (int i = 0; i < 3; i++) {
        server.write("/w/d" + i, "{\"v\":\"" + FIVE_MEGABYTES + "\"}");
      }
      client.subscribe("a", "'db':'w','include_docs':true,'limit':3");
      for (int i = 0; i < 3; i++) {
        String row = client.socket().text();
        assertThat(row).contains("\"type\":\"row\"", "\"_id\":\"d" + i, FIVE_MEGABYTES);
      }
      client.end("a");
    }
  }
}
