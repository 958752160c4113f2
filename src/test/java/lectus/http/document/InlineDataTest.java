package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.SweptStore;
import lectus.audit.testing.SoundStore;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.json.JsonLimits;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies of writes that are taken apart while they arrive, because their length is not known. */
final class InlineDataTest {
  private static final int MAX_ATTACHMENT_BYTES = 100_000;

  /** A portion takes as much memory; a quarter of it is held as JSON. */
  private static final int BODY_MEMORY = 2 << 20;

  private static final int MAX_HELD_BYTES = 400_000;
  private static final int MAX_BODY_BYTES = 3_000_000;
  private static final String LONG = base64(30_000);

  @RegisterExtension
  static final LectusServer server = LectusServer.shared(settings(), "/held", "/w");

  private static TestSettings settings() {
    return new TestSettings()
        .documents(
            new DocumentLimits(
                DocumentLimits.DEFAULT.idBytes(),
                DocumentLimits.DEFAULT.json(),
                new AttachmentSettings(
                    MAX_ATTACHMENT_BYTES, Compression.of(8, AttachmentSettings.COMPRESSED_TYPES))))
        .maxRequestBytes(MAX_BODY_BYTES)
        .maxHeldBytes(MAX_HELD_BYTES)
        .bodyMemoryBytes(BODY_MEMORY);
  }

  private static String base64(int bytes) {
    byte[] random = new byte[bytes];
    new Random(bytes).nextBytes(random);
    return Base64.getEncoder().encodeToString(random);
  }

  private Answer chunked(String method, String target, String body, int piece) {
    try (Connection connection = begun(method, target)) {
      for (int from = 0; from < body.length(); from += piece) {
        chunk(connection, body.substring(from, Math.min(body.length(), from + piece)));
      }
      return connection.write("0\r\n\r\n").read(false);
    }
  }

  private Connection begun(String method, String target) {
    return server
        .request(method, target, "Content-Type", "application/json", "Transfer-Encoding", "chunked")
        .open();
  }

  private static void chunk(Connection connection, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    connection.write(Integer.toHexString(bytes.length) + "\r\n").write(bytes).write("\r\n");
  }

  private Answer bulk(String body) {
    return chunked("POST", "/w/_bulk_docs", body, 50_000);
  }

  private String whole(String database, String id) {
    return server
        .request(
            "GET",
            '/' + database + '/' + id + "?attachments=true&att_encoding_info=true",
            "Accept",
            "application/json")
        .send()
        .body();
  }

  private int rows(AttachmentKeys part) {
    return SweptStore.rows(server.store(), "w", part);
  }

  /** A short body is held and parsed as a whole. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'_attachments':{'a':{'content_type':'image/png','data':'LONG'}}}",
        "{'_attachments':{'a':{'data':'LONG','content_type':'image/png'}}}",
        "{'_attachments':{'a':{'data':'LONG'}}}",
        "{'_attachments':{'a':{'content_type':'text/plain','data':'LONG'}}}",
        "{'_attachments':{'a':{'data':'LONG','content_type':'text/plain'}}}",
        "{'_attachments':{'a':{'content_type':'te\\u0078t/plain','data':'LONG'},'b':{'data':'LONG'}}}",
        "{'_attachments':{'a':{'content_type':7,'data':'LONG'}}}",
        "{'_attachments':{'a':{'content_type':'text/plain','data':'LONG','content_type':'a/b'}}}",
        "{'_attachments':{'a':{'data':'QQ==','data':'LONG'},'b':{'data':'LONG','data':'QQ=='}}}",
        "{'_attach\\u006dents':{'a':{'dat\\u0061':'LONG'}},'v':1}",
        "{'v':1,'_attachments':{'a':{'revpos':3,'digest':'md5-nonsense','length':9,'data':'LONG'}}}",
        "{'_attachments':{'a':{'stub':true,'data':'LONG'}}}",
        "{'_attachments':{'a':{'stub':false,'data':'LONG'}}}",
        "{'_attachments':{'a':{'follows':true,'data':'LONG'}}}",
        "{'_attachments':{'':{'data':'LONG'}}}",
        "{'_attachments':{'a':{'data':'LONG'},'a':{'data':'QQ=='}}}",
        "{'_attachments':{'a':{'data':'LONG'}},'_attachments':{'b':{'data':'LONG'}}}",
        "{'_attachments':{'a':{'data':['LONG']}}}",
        "{'_attachments':{'a':{'data':{'data':'LONG'}}}}",
        "{'_attachments':['LONG']}",
        "{'_attachments':[{'a':{'data':'LONG'}}]}",
        "{'x':{'_attachments':{'a':{'data':'LONG'}}},'data':'LONG','docs':[{'data':'LONG'}]}",
        "{'_attachments':{'a':{'data':'LONG=='}}}",
        "{'_attachments':{'a':{'data':'LONGQQ=='}}}",
        "{'_attachments':{'a':{'data':'LONGQQ==QQ=='}}}",
        "{'_attachments':{'a':{'data':'LONGQQ=Q'}}}",
        "{'_attachments':{'a':{'data':'LONGQ'}}}",
        "{'_attachments':{'a':{'data':'LONG*AAA'}}}",
        "{'_attachments':{'a':{'data':'LONG-AAA'}}}",
        "{'_attachments':{'a':{'data':'LONG ü'}}}",
        "{'_attachments':{'a':{'data':'\\u0041\\/\\u002B+\\u002fLONGLONG\\u0041A A\\n"
            + "\\t\\r"
            + " A \\f '}}}",
        "{'_attachments':{'a':{'data':'LONG\\u00e9AAA'}}}",
        "{'_attachments':{'a':{'data':'LONG\\b'}}}",
        "{'_attachments':{'a':{'data':'LONGLONGLONG'}}}",
        "{'_attachments':{'a':{'data':'LONGLONGLONGLONG'}}}",
        "{'_attachments':{'a':{'content_type':'text/x','data':'LONGLONGLONGLONG'}},'v':2}",
        "{'_attachments':{'a':{'data':'?LONG'}},'_x':1}",
        "{'_attachments':{'a':{'data':'LONG'}}",
        "{'_attachments':{'a':{'data':'LONG'}}}}",
        "{'_attachments':{'a':{'data':'LONG'}},}",
        "{'_attachments':{'a':{'data' 'LONG'}}}",
        "[{'_attachments':{'a':{'data':'LONG'}}}]",
        "'LONG'",
      })
  void a_body_that_comes_in_pieces_means_what_it_means_as_a_whole(String template) {
    String json = template.replace('\'', '"').replace("LONG", LONG);
    Answer held = server.put("/held/d", json);
    for (int piece : new int[] {99_999, 1_001}) {
      Answer written = chunked("PUT", "/w/d" + piece, json, piece);
      assertThat(written.status()).as(written.body()).isEqualTo(held.status());
      assertThat(told(written.body().replace("d" + piece, "d"))).isEqualTo(told(held.body()));
      assertThat(whole("w", "d" + piece).replace("d" + piece, "d")).isEqualTo(whole("held", "d"));
    }
    String docs = "{\"docs\":[{\"_id\":\"x\"}," + json + ",{\"_id\":\"y\"}]}";
    String ids = "\\b[0-9a-f]{32}\\b";
    assertThat(told(bulk(docs).body()).replaceAll(ids, ""))
        .isEqualTo(told(server.post("/held/_bulk_docs", docs).body()).replaceAll(ids, ""));
    SweptStore.assertClean(server.store(), "w");
  }

  /** Columns count without data that are stored already. */
  private static String told(String body) {
    return body.replaceAll("column \\d+", "column");
  }

  @ParameterizedTest
  @ValueSource(ints = {12_285, 12_288, 12_291})
  void short_data_stay_in_the_json_and_long_ones_do_not(int bytes) {
    String json = "{\"_attachments\":{\"a\":{\"data\":\"" + base64(bytes) + "\"}}}";
    chunked("PUT", "/w/a", json, 1_000);
    server.put("/held/a", json);
    assertThat(whole("w", "a")).isEqualTo(whole("held", "a")).contains(base64(bytes));
  }

  @Test
  void an_attachment_that_is_too_long_fails_alone() {
    String most = base64(MAX_ATTACHMENT_BYTES);
    String more = base64(MAX_ATTACHMENT_BYTES + 1);
    Answer answer =
        bulk("{\"docs\":["
                + attached("a", most)
                + ','
                + attached("b", more)
                + ','
                + attached("c", most)
                + "]}")
            .expect(201);
    assertThat(answer.body()).contains("attachment_too_large");
    assertThat(ids(answer)).containsExactly("a", "b", "c");
    assertThat(whole("w", "a")).contains(most);
    server.get("/w/b").expect(404);
    assertThat(whole("w", "c")).contains(most);
    chunked("PUT", "/w/d", attached("d", more), 9_999).expect(413);
  }

  private static String attached(String id, String data) {
    return "{\"_id\":\"" + id + "\",\"_attachments\":{\"f\":{\"data\":\"" + data + "\"}}}";
  }

  private static List<String> ids(Answer answer) {
    byte[] json = answer.body().getBytes(StandardCharsets.UTF_8);
    List<String> ids = new ArrayList<>();
    for (JsonValue row : ((JsonArray) JsonValue.parse(json)).elements()) {
      ids.add(((JsonString) ((JsonObject) row).get("id").orElseThrow()).value());
    }
    return ids;
  }

  @Test
  void attachments_of_a_request_are_not_held() {
    String data = base64(90_000);
    String docs =
        IntStream.range(0, 24)
            .mapToObj(i -> attached("d" + i, data))
            .collect(Collectors.joining(","));
    assertThat(docs.length()).isGreaterThan(BODY_MEMORY);

    server.post("/w/_bulk_docs", "{\"docs\":[" + docs + "],\"new_edits\":true}").expect(201);
    assertThat(whole("w", "d23")).contains(data);
  }

  @Test
  void more_documents_than_are_held_are_answered_in_order_whatever_stands_behind_them() {
    String x = "x".repeat(1_000);
    List<String> expected = new ArrayList<>();
    StringBuilder docs = new StringBuilder("{\"docs\":[{\"_id\":\"none\"}],\"docs\":[");
    for (int i = 0; i < 2_000; i++) {
      String id = "d" + i;
      expected.add(id);
      docs.append(i == 0 ? "" : ",").append("{\"_id\":\"").append(id).append("\",\"_rev\":\"7-");
      docs.append("ab\",\"").append(i % 500 == 7 ? "_x" : "x").append("\":\"").append(x);
      docs.append("\"}");
    }
    Answer replicated = bulk(docs + "],\"new_edits\":false}").expect(201);
    assertThat(ids(replicated)).containsExactly("d7", "d507", "d1007", "d1507");
    assertThat(server.get("/w").body()).contains("\"doc_count\":1996,");
    assertThat(server.get("/w/d1999").body()).contains("\"_rev\":\"7-ab\"");

    Answer refused = bulk(docs.append("],\"new_edits\":true}").toString()).expect(400);
    assertThat(refused.member("error")).isEqualTo("doc_validation");
    assertThat(server.get("/w/d0").body()).contains("\"_rev\":\"7-ab\"");

    Answer edited = bulk(docs.toString().replace("_x", "x"));
    assertThat(ids(edited)).isEqualTo(expected);
    assertThat(edited.body()).contains("\"id\":\"d7\",\"error\"", "{\"ok\":true,\"id\":\"d8\"");
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "]", "],}", "],\"new_edits\":1}", "]}}", "],\"docs\":{}}", ",7]}"})
  void a_long_body_that_is_none_stores_nothing(String end) {
    String doc = "{\"x\":\"" + "x".repeat(10_000) + "\"}";
    bulk("{\"docs\":[" + (doc + ',').repeat(249) + doc + end).expect(400);
    assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
  }

  @Test
  void a_long_replicated_body_without_revisions_stores_nothing() {
    String doc = "{\"_id\":\"a\",\"_rev\":\"1-a\",\"x\":\"" + "x".repeat(10_000) + "\"}";
    bulk("{\"docs\":[" + (doc + ',').repeat(249) + "{\"_id\":\"b\"}],\"new_edits\":false}")
        .expect(400);
    assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
  }

  @Test
  void atomic_documents_are_held_and_have_the_limit_of_that() {
    String doc = "{\"x\":\"" + "x".repeat(10_000) + "\"}";
    String docs = "{\"docs\":[" + (doc + ',').repeat(99) + doc + "],\"atomic\":true}";
    bulk(docs).expect(201);
    assertThat(server.get("/w").body()).contains("\"doc_count\":100,");
  }

  @Test
  void a_client_that_leaves_stores_nothing() {
    String doc = "{\"x\":\"" + "x".repeat(10_000) + "\"},";
    try (Connection connection = begun("POST", "/w/_bulk_docs")) {
      chunk(connection, "{\"docs\":[" + attached("a", LONG) + ',' + doc.repeat(200));
      Await.until("some of it is stored", () -> rows(AttachmentKeys.UPLOADS) > 0);
    }
    Await.until("it is cleared", () -> rows(AttachmentKeys.UPLOADS) == 0);
    assertThat(server.get("/w").body()).contains("\"doc_count\":0,");
    SweptStore.assertClean(server.store(), "w");
  }

  @Test
  void data_that_do_not_end_are_cleared() {
    String json = "{\"_attachments\":{\"a\":{\"data\":\"" + base64(MAX_ATTACHMENT_BYTES);
    chunked("PUT", "/w/d", json, 50_000).expect(400);
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
  }

  @Test
  void whose_database_is_missing_is_told_while_the_body_arrives() {
    try (Connection connection = begun("POST", "/none/_bulk_docs")) {
      chunk(connection, "{\"docs\":[" + attached("a", LONG) + ',');
      Answer answer = connection.read(false).expect(404);
      assertThat(answer.header("connection")).isEqualTo("close");
    }
  }

  /** Hardly anything is sent of so many spaces. */
  @Test
  void a_compressed_body_that_may_not_be_held_has_a_limit_by_what_was_sent() {
    for (int length : new int[] {MAX_HELD_BYTES, MAX_HELD_BYTES + 1}) {
      int status = length == MAX_HELD_BYTES ? 201 : 413;
      String head = "{\"docs\":[{}]";
      String body = head + " ".repeat(length - head.length() - 1) + '}';
      gzipped("/w/_bulk_docs", body).expect(status);
      gzipped("/w", "{" + " ".repeat(length - 2) + "}").expect(status);
    }
  }

  @Test
  void a_body_has_a_limit_however_it_comes() {
    for (int length : new int[] {MAX_BODY_BYTES, MAX_BODY_BYTES + 1}) {
      String head = "{\"docs\":[" + attached("a" + length, base64(60_000)) + "]";
      String body = head + " ".repeat(length - head.length() - 1) + '}';
      int status = length == MAX_BODY_BYTES ? 201 : 413;
      bulk(body).expect(status);
      server.post("/w/_bulk_docs", body).expect(status);
      gzipped("/w/_bulk_docs", body).expect(status);
    }
  }

  /** One document is held. */
  @Test
  void a_document_has_a_limit_without_its_data() {
    String data = base64(99_000);
    String attachments =
        IntStream.range(0, 10)
            .mapToObj(i -> "\"f" + i + "\":{\"data\":\"" + data + "\"}")
            .collect(Collectors.joining(","));
    String json = "{\"_attachments\":{" + attachments + "},\"v\":\"%s\"}";
    String fits = json.formatted("x".repeat(MAX_HELD_BYTES - 5_000));
    String tooLong = json.formatted("x".repeat(MAX_HELD_BYTES));
    assertThat(fits.length()).isGreaterThan(3 * MAX_HELD_BYTES);

    gzipped("/w", fits).expect(201);
    chunked("PUT", "/w/a", fits, 77_777).expect(201);
    server.put("/w/b", fits).expect(201);
    assertThat(whole("w", "a").replace("\"a\"", "\"b\"")).isEqualTo(whole("w", "b"));

    for (Answer refused :
        List.of(
            gzipped("/w", tooLong),
            chunked("PUT", "/w/c", tooLong, 77_777),
            server.put("/w/c", tooLong))) {
      refused.expect(413);
      assertThat(refused.body()).contains("the limit is " + MAX_HELD_BYTES + " bytes");
    }
    server.get("/w/c").expect(404);
  }

  private Answer gzipped(String target, String body) {
    return server.request("POST", target, "Content-Type", "application/json").gzipped(body).send();
  }

  @Test
  void the_document_of_a_multipart_body_brings_data_too() {
    String json = "{\"_attachments\":{\"f\":{\"data\":\"" + LONG + "\"}}}";
    server
        .request("PUT", "/w/a", "Content-Type", "multipart/related; boundary=\"b\"")
        .body(
            ("--b\r\nContent-Type: application/json\r\n\r\n" + json + "\r\n--b--")
                .getBytes(StandardCharsets.UTF_8))
        .send()
        .expect(201);
    assertThat(whole("w", "a")).contains(LONG);
  }

  /** Documents of several megabytes through the server. */
  @Nested
  class LargeDocuments {
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
                document(8_000_000).replace("{", "{\"_id\":\"a\",\"_rev\":\"" + rev + "\",")
                    + "\n");
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
            .hasSize(
                document(2_000_000).length() + "'_id':'a','_rev':'',\n".length() + rev.length());
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

        assertThat(server.get("/w/_changes?include_docs=true").body())
            .hasSizeGreaterThan(20_000_000);
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
}
