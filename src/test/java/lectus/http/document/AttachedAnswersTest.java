package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.json.JsonValue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Documents, lists of them and feeds, with the bytes of their attachments: inside of them, or in
 * parts behind them.
 */
final class AttachedAnswersTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  /** Documents with the bytes of their attachments: inside of them, or in parts behind them. */
  @Nested
  class OfDocuments {
    private static final byte[] LONG = random(300_001);

    private String rev;

    @BeforeEach
    void a_document_with_three_attachments() {
      server.put("/w");
      String first =
          "{\"v\":1,\"_attachments\":{\"t\":{\"content_type\":\"text/plain\",\"data\":\"%s\"}}}"
              .formatted(base64("hallo ".repeat(100).getBytes(StandardCharsets.UTF_8)));
      rev = server.put("/w/a", first).member("rev");
      rev =
          server
              .put(
                  "/w/a",
                  "{\"_rev\":\"%s\",\"v\":2,\"_attachments\":{\"t\":{\"stub\":true},\"l\":{\"data\":\"%s\",\"content_type\":\"image/x\"},\"e\":{\"data\":\"\"}}}"
                      .formatted(rev, base64(LONG)))
              .member("rev");
    }

    private static byte[] random(int length) {
      byte[] bytes = new byte[length];
      new Random(length).nextBytes(bytes);
      return bytes;
    }

    private static String base64(byte[] bytes) {
      return Base64.getEncoder().encodeToString(bytes);
    }

    private static String md5(byte[] bytes) {
      return Md5.of(Digests.md5().digest(bytes)).digest();
    }

    private Answer json(String target) {
      return server.request("GET", target, "Accept", "application/json").send();
    }

    private static String inlined(String text) {
      return "\"data\":\"" + text + "\"";
    }

    private static final String TEXT =
        inlined(base64("hallo ".repeat(100).getBytes(StandardCharsets.UTF_8)));

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "/w/a?attachments=true",
          "/w/a?attachments=true&revs=true",
          "/w/a?attachments=true&conflicts=true",
          "/w/a?open_revs=all&attachments=true"
        })
    void bytes_come_inside_of_the_document(String target) {
      Answer answer = json(target).expect(200);
      assertThat(answer.header("content-type")).isEqualTo("application/json");
      assertThat(answer.body())
          .contains(TEXT, inlined(base64(LONG)), inlined(""), "\"v\":2")
          .doesNotContain("stub");
    }

    @Test
    void a_named_revision_shows_them_too() {
      assertThat(json("/w/a?attachments=true&rev=" + rev).body()).contains(TEXT);
    }

    @Test
    void what_a_known_revision_had_is_a_stub() {
      String first =
          json("/w/a?revs_info=true").body().replaceAll("(?s).*\"(1-[0-9a-f]+)\".*", "$1");
      String since = "atts_since=%5B%22" + first + "%22%5D";
      for (String target :
          new String[] {
            "/w/a?" + since, "/w/a?open_revs=all&" + since, "/w/a?rev=" + rev + "&" + since
          }) {
        assertThat(json(target).body())
            .contains("\"length\":600,\"stub\":true", inlined(base64(LONG)))
            .doesNotContain(TEXT);
      }
      assertThat(json("/w/a?atts_since=%5B%22" + rev + "%22%5D").body()).doesNotContain("data");
      assertThat(json("/w/a?atts_since=%5B%229-x%22%5D").body()).contains(TEXT);
      json("/w/a?atts_since=7").expect(400);
    }

    @Test
    void encodings_are_shown_on_request() {
      assertThat(json("/w/a?att_encoding_info=true").body())
          .containsPattern(
              "\"length\":600,\"stub\":true,\"encoding\":\"gzip\",\"encoded_length\":\\d+}");
      assertThat(json("/w/a").body()).doesNotContain("encoding");
    }

    @Test
    void bytes_follow_the_document_for_who_accepts_that() {
      Answer answer =
          server.request("GET", "/w/a?attachments=true", "Accept", "multipart/related").send();
      String type = answer.header("content-type");
      assertThat(type).startsWith("multipart/related; boundary=\"");
      String boundary = type.replaceAll(".*boundary=\"([^\"]+)\"", "$1");
      String body = answer.body();

      assertThat(body)
          .startsWith("--" + boundary + "\r\nContent-Type: application/json\r\n\r\n{\"_id\":\"a\"")
          .endsWith("\r\n--" + boundary + "--")
          .contains(
              "\"length\":600,\"follows\":true,\"encoding\":\"gzip\"",
              "\r\nContent-Disposition: attachment; filename=\"l\"\r\nContent-Type:"
                  + " image/x\r\nContent-Length: 300001\r\n\r\n",
              "\r\nContent-Disposition: attachment; filename=\"t\"\r\nContent-Type:"
                  + " text/plain\r\nContent-Length: ");
      assertThat(answer.header("etag")).isEqualTo('"' + rev + '"');
      Answer plain = server.request("GET", "/w/a", "Accept", "multipart/related").send();
      assertThat(plain.header("content-type")).isEqualTo("application/json");
    }

    @Test
    void open_revisions_and_bulk_get_as_multipart_have_the_bytes_behind_each_document() {
      Answer open = server.request("GET", "/w/a?open_revs=all", "Accept", "multipart/mixed").send();
      assertThat(open.body())
          .contains("\r\nContent-Type: multipart/related; boundary=\"", "\"follows\":true")
          .contains("Content-Length: 300001");
      Answer bulk =
          server
              .request(
                  "POST",
                  "/w/_bulk_get",
                  "Accept",
                  "multipart/mixed",
                  "Content-Type",
                  "application/json")
              .body("{\"docs\":[{\"id\":\"a\"}]}".getBytes(StandardCharsets.UTF_8))
              .send();
      assertThat(bulk.body()).contains("\r\nX-Doc-Id: a\r\nX-Rev-Id: " + rev, "filename=\"l\"");
      assertThat(server.post("/w/_bulk_get", "{\"docs\":[{\"id\":\"a\"}]}").body())
          .contains("\"stub\":true");
      assertThat(server.post("/w/_bulk_get?attachments=true", "{\"docs\":[{\"id\":\"a\"}]}").body())
          .contains(TEXT, inlined(base64(LONG)));
    }

    private static byte[] related(String json, byte[]... parts) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      body.writeBytes(
          ("--B\r\nContent-Type: application/json\r\n\r\n" + json + "\r\n--B")
              .getBytes(StandardCharsets.UTF_8));
      for (byte[] part : parts) {
        body.writeBytes(
            "\r\nContent-Disposition: attachment\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        body.writeBytes(part);
        body.writeBytes("\r\n--B".getBytes(StandardCharsets.UTF_8));
      }
      body.writeBytes("--".getBytes(StandardCharsets.UTF_8));
      return body.toByteArray();
    }

    private Answer put(String target, byte[] body) {
      return server
          .request("PUT", target, "Content-Type", "multipart/related; boundary=B")
          .body(body)
          .send();
    }

    private static String following(String name, byte[] bytes, String more) {
      return "\"%s\":{\"follows\":true,\"length\":%d,\"digest\":\"%s\"%s}"
          .formatted(name, bytes.length, md5(bytes), more);
    }

    @Test
    void attachments_that_follow_are_stored_in_the_order_of_the_document() {
      byte[] tricky =
          "\r\n--\r\n--C\r\n--BB".replace("--BB", "--").getBytes(StandardCharsets.UTF_8);
      String json =
          "{\"_rev\":\"3-c\",\"_attachments\":{%s,%s,%s}}"
              .formatted(
                  following("b", LONG, ",\"revpos\":2"),
                  following("a/x", tricky, ",\"revpos\":3"),
                  following("0", new byte[0], ""));
      Answer answer = put("/w/m?new_edits=false", related(json, LONG, tricky, new byte[0]));
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);

      assertThat(json("/w/m?attachments=true").body())
          .contains(inlined(base64(LONG)), inlined(base64(tricky)), "\"revpos\":2", "\"revpos\":3");
      assertThat(server.get("/w/m/b").header("content-md5")).isEqualTo(md5(LONG).substring(4));
    }

    @ParameterizedTest
    @CsvSource({"-1,longer", "1,shorter"})
    void a_wrong_length_stores_nothing(int more, String reason) {
      byte[] bytes = random(10);
      String json =
          "{\"_attachments\":{\"x\":{\"follows\":true,\"length\":%d}}}"
              .formatted(bytes.length + more);
      Answer answer = put("/w/m", related(json, bytes)).expect(400);
      assertThat(answer.member("reason")).isEqualTo("attachment " + reason + " than expected");
      server.get("/w/m").expect(404);
    }

    @Test
    void a_wrong_digest_or_a_part_too_few_or_too_many_stores_nothing() {
      byte[] bytes = random(10);
      String json = "{\"_attachments\":{" + following("x", random(9), "") + "}}";
      assertThat(put("/w/m", related(json.replace("\"length\":9", "\"length\":10"), bytes)).body())
          .contains("content_md5_mismatch");
      String right = "{\"_attachments\":{" + following("x", bytes, "") + "}}";
      put("/w/m", related(right)).expect(400);
      put("/w/m", related(right, bytes, bytes)).expect(400);
      server.put("/w/m", right).expect(400);
      server.get("/w/m").expect(404);
      put("/w/m", related(right, bytes)).expect(201);
    }
  }

  /** Lists of documents and feeds, with the bytes of attachments in their rows. */
  @Nested
  class OfLists {
    private static final byte[] LONG = new byte[400_001];
    private static final String TEXT = "hallo ".repeat(100);

    static {
      new Random(7).nextBytes(LONG);
    }

    private String first;

    @BeforeEach
    void documents_with_and_without_attachments() {
      server.put("/w");
      server.write("/w/_design/d", "{\"_attachments\":{" + inline("t", bytes(TEXT)) + "}}");
      first = server.write("/w/a", "{\"_attachments\":{" + inline("t", bytes(TEXT)) + "}}");
      server.write(
          "/w/a",
          "{\"_rev\":\"%s\",\"_attachments\":{\"t\":{\"stub\":true},%s}}"
              .formatted(first, inline("l", LONG)));
      server.write("/w/b", "{\"v\":1}");
      for (int i = 0; i < 3; i++) {
        server.write("/w/c" + i, "{\"_attachments\":{" + inline("l", LONG) + "}}");
      }
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String data(byte[] bytes) {
      return "\"data\":\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
    }

    private static String inline(String name, byte[] bytes) {
      return "\"%s\":{\"content_type\":\"text/plain\",%s}".formatted(name, data(bytes));
    }

    private static void assertWhole(String json, int longOnes, int texts) {
      JsonValue.parse(bytes(json));
      assertThat(json.split(java.util.regex.Pattern.quote(data(LONG)), -1)).hasSize(longOnes + 1);
      assertThat(json.split(java.util.regex.Pattern.quote(data(bytes(TEXT))), -1))
          .hasSize(texts + 1);
      assertThat(json).doesNotContain("\"stub\"");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "_all_docs?include_docs=true&attachments=true|4|2",
          "_all_docs?include_docs=true&attachments=true&descending=true&conflicts=true|4|2",
          "_all_docs?include_docs=true&attachments=true&skip=2&limit=3|2|0",
          "_all_docs?include_docs=true&attachments=true&keys=[\"c1\",\"b\",\"a\",\"none\"]|2|1",
          "_design_docs?include_docs=true&attachments=true|0|1",
          "_changes?include_docs=true&attachments=true|4|2",
          "_changes?include_docs=true&attachments=true&descending=true|4|2",
          "_changes?include_docs=true&attachments=true&until=now|4|2",
          "_changes?include_docs=true&attachments=true&feed=longpoll|4|2",
          "_changes?include_docs=true&attachments=true&filter=_doc_ids&doc_ids=[\"a\"]|1|1",
          "_changes?include_docs=true&attachments=true&seq_interval=2|4|2"
        })
    void rows_have_the_bytes(String target, int longOnes, int texts) {
      Answer answer =
          server.get("/w/" + target.replace("\"", "%22").replace("[", "%5B")).expect(200);
      assertWhole(answer.body(), longOnes, texts);
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "_all_docs|{\"include_docs\":true,\"attachments\":true}|4|2",
          "_all_docs?include_docs=true|{\"keys\":[\"a\"],\"attachments\":true}|1|1",
          "_all_docs/queries|{\"queries\":[{\"keys\":[\"c0\"],\"include_docs\":true,\"attachments\":true},{\"limit\":1},{\"include_docs\":true,\"attachments\":true,\"startkey\":\"c\"}]}|4|0",
          "_changes?filter=_selector&include_docs=true&attachments=true|{\"selector\":{\"_id\":\"c1\"}}|1|0"
        })
    void what_is_asked_for_by_post_has_them(String target, String body, int longOnes, int texts) {
      Answer answer = server.post("/w/" + target, body);
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      assertWhole(answer.body(), longOnes, texts);
    }

    @ParameterizedTest
    @CsvSource({
      "_all_docs?attachments=true",
      "_changes?attachments=true",
      "_all_docs?include_docs=true",
      "_changes?include_docs=true"
    })
    void without_one_of_the_parameters_there_are_none(String target) {
      assertThat(server.get("/w/" + target).body()).doesNotContain("\"data\"", "encoding");
    }

    @Test
    void encodings_are_shown_on_request_with_bytes_and_without() {
      for (String list : new String[] {"_all_docs", "_changes"}) {
        String stubs =
            server.get("/w/" + list + "?include_docs=true&att_encoding_info=true").body();
        assertThat(stubs)
            .containsPattern(
                "\"length\":600,\"stub\":true,\"encoding\":\"gzip\",\"encoded_length\":")
            .doesNotContain("\"data\"");
        assertThat(
                server
                    .get(
                        "/w/" + list + "?include_docs=true&attachments=true&att_encoding_info=true")
                    .body())
            .contains(data(bytes(TEXT)) + ",\"encoding\":\"gzip\",\"encoded_length\":");
      }
      server.get("/w/_all_docs?attachments=perhaps").expect(400);
    }

    @Test
    void rows_of_a_partition_have_the_bytes() {
      server.put("/p?partitioned=true");
      server.write("/p/x:1", "{\"_attachments\":{" + inline("l", LONG) + "}}");
      String list = "/_all_docs?include_docs=true&attachments=true";
      assertWhole(server.get("/p/_partition/x" + list).body(), 1, 0);
      assertWhole(server.get("/p/_partition/y" + list).body(), 0, 0);
    }

    /** Returns the lines of a feed, without its end. */
    private Stream<String> lines(Connection feed, int count) {
      StringBuilder text = new StringBuilder();
      AtomicReference<Integer> lines = new AtomicReference<>(0);
      while (lines.get() < count) {
        String chunk = feed.chunkText();
        text.append(chunk);
        lines.set((int) text.chars().filter(it -> it == '\n').count());
      }
      return text.toString().lines();
    }

    @Test
    void a_continuous_feed_has_the_bytes_of_old_rows_and_of_new_ones() {
      String target = "/w/_changes?feed=continuous&include_docs=true&attachments=true";
      try (Connection feed = server.request("GET", target).open()) {
        feed.readHead().expect(200);
        String old = lines(feed, 6).map(line -> line + ",").reduce("[", String::concat);
        assertWhole(old + "0]", 4, 2);
        server.write("/w/n", "{\"_attachments\":{" + inline("l", LONG) + "}}");
        assertWhole(lines(feed, 1).findFirst().orElseThrow(), 1, 0);
        server.write("/w/m", "{\"_attachments\":{" + inline("t", bytes(TEXT)) + "}}");
        assertWhole(lines(feed, 1).findFirst().orElseThrow(), 0, 1);
      }
    }

    @Test
    void events_have_the_bytes_and_end_after_them() {
      String target = "/w/_changes?feed=eventsource&include_docs=true&attachments=true&limit=3";
      String events = server.get(target).body();
      assertThat(events.lines().filter(line -> line.startsWith("data: "))).hasSize(3);
      assertThat(events).contains(data(LONG), data(bytes(TEXT))).endsWith("\"\n\n");
      String last = server.get("/w").member("update_seq");
      assertThat(
              server
                  .get(target.replace("eventsource&", "continuous&timeout=10&") + "00")
                  .body()
                  .strip())
          .endsWith("{\"last_seq\":\"" + last + "\",\"pending\":0}");
    }

    @Test
    void a_web_socket_is_refused_since_its_messages_are_whole() {
      Answer answer =
          server
              .request(
                  "GET",
                  "/w/_changes?feed=continuous&include_docs=true&attachments=true",
                  "Upgrade",
                  "websocket",
                  "Connection",
                  "Upgrade",
                  "Sec-WebSocket-Version",
                  "13",
                  "Sec-WebSocket-Key",
                  "AAAAAAAAAAAAAAAAAAAAAA==")
              .send()
              .expect(400);
      assertThat(answer.member("reason")).contains("feed=continuous");
    }

    @Test
    void each_document_of_a_bulk_get_names_what_is_known_of_it() {
      String docs =
          "{\"docs\":[{\"id\":\"a\",\"atts_since\":[\"%s\"]},{\"id\":\"a\",\"atts_since\":[]},{\"id\":\"a\",\"atts_since\":[\"9-a\"]},{\"id\":\"c0\",\"atts_since\":7},{\"id\":\"c0\",\"atts_since\":[\"x\"]}]}"
              .formatted(first);
      String answer = server.post("/w/_bulk_get", docs).body();
      JsonValue.parse(bytes(answer));
      assertThat(answer.split("\"id\":\"a\",\"docs\"", -1)[1])
          .contains("\"length\":600,\"stub\":true", data(LONG))
          .doesNotContain(data(bytes(TEXT)));
      assertThat(answer.split("\"id\":\"a\",\"docs\"", -1)[2])
          .contains("\"length\":600,\"stub\":true", "\"length\":400001,\"stub\":true");
      assertThat(answer.split("\"id\":\"a\",\"docs\"", -1)[3])
          .contains(data(bytes(TEXT)), data(LONG));
      assertThat(answer)
          .contains(
              "{\"rev\":7,\"reason\":\"att_since value must be array of revs.\"",
              "{\"rev\":\"x\",\"reason\":\"Invalid rev format\"");
      Answer parts =
          server
              .request(
                  "POST",
                  "/w/_bulk_get",
                  "Accept",
                  "multipart/mixed",
                  "Content-Type",
                  "application/json")
              .body(bytes(docs))
              .send();
      assertThat(parts.body().split("X-Doc-Id: a", -1)[1])
          .contains("filename=\"l\"")
          .doesNotContain("filename=\"t\"");
      assertThat(parts.body().split("X-Doc-Id: a", -1)[3])
          .contains("filename=\"l\"", "filename=\"t\"");
    }
  }
}
