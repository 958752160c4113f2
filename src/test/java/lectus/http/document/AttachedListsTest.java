package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.json.JsonValue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lists of documents and feeds, with the bytes of attachments in their rows. */
class AttachedListsTest {
  private static final byte[] LONG = new byte[400_001];
  private static final String TEXT = "hallo ".repeat(100);

  static {
    new Random(7).nextBytes(LONG);
  }

  @RegisterExtension static final LectusServer server = LectusServer.shared();

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
    assertThat(json.split(java.util.regex.Pattern.quote(data(bytes(TEXT))), -1)).hasSize(texts + 1);
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
    Answer answer = server.get("/w/" + target.replace("\"", "%22").replace("[", "%5B")).expect(200);
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
      String stubs = server.get("/w/" + list + "?include_docs=true&att_encoding_info=true").body();
      assertThat(stubs)
          .containsPattern("\"length\":600,\"stub\":true,\"encoding\":\"gzip\",\"encoded_length\":")
          .doesNotContain("\"data\"");
      assertThat(
              server
                  .get("/w/" + list + "?include_docs=true&attachments=true&att_encoding_info=true")
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
