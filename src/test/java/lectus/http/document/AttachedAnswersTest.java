package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Documents with the bytes of their attachments: inside of them, or in parts behind them. */
class AttachedAnswersTest {
  private static final byte[] LONG = random(300_001);

  @RegisterExtension static final LectusServer server = LectusServer.shared();

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
    String first = json("/w/a?revs_info=true").body().replaceAll("(?s).*\"(1-[0-9a-f]+)\".*", "$1");
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
    byte[] tricky = "\r\n--\r\n--C\r\n--BB".replace("--BB", "--").getBytes(StandardCharsets.UTF_8);
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
