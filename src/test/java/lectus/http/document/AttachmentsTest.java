package lectus.http.document;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.audit.testing.SoundStore;
import lectus.config.HttpKeys;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Awaiting;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Attachments over HTTP: stored, read whole and in parts, replaced, removed. */
class AttachmentsTest {
  private static final int MOST = 1_000_000;

  private final HttpClient client = HttpClient.newHttpClient();

  @RegisterExtension static final LectusServer server = LectusServer.shared(settings(), "/w");

  private static TestSettings settings() {
    // A stop would wait for the next request of a client that keeps its connection.
    return new TestSettings()
        .with(HttpKeys.STOP_SECONDS, 0)
        .documents(
            new DocumentLimits(
                DocumentLimits.DEFAULT.idBytes(),
                DocumentLimits.DEFAULT.json(),
                new AttachmentSettings(
                    MOST, Compression.of(8, AttachmentSettings.COMPRESSED_TYPES))));
  }

  private HttpResponse<byte[]> send(String method, String path, byte[] body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .method(
                method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return client.send(request.build(), BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String stored(String path, byte[] body, String... headers) {
    HttpResponse<byte[]> answer = send("PUT", path, body, headers);
    String json = new String(answer.body(), StandardCharsets.UTF_8);
    assertThat(answer.statusCode()).as(json).isEqualTo(201);
    return json.replaceAll("(?s).*\"rev\":\"([^\"]+)\".*", "$1");
  }

  private HttpResponse<byte[]> got(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  private static String text(HttpResponse<byte[]> answer) {
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  private static String header(HttpResponse<byte[]> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static byte[] gunzip(byte[] bytes) {
    try (GZIPInputStream gzip = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      return gzip.readAllBytes();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String base64Md5(byte[] bytes) {
    return Md5.of(Digests.md5().digest(bytes)).base64();
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "90000", "90001", "1000000"})
  void what_was_put_is_got(int length) {
    byte[] bytes = random(length);
    HttpResponse<byte[]> put = send("PUT", "/w/a/f", bytes, "Content-Type", "image/x");
    assertThat(header(put, "location")).endsWith("/w/a/f");
    HttpResponse<byte[]> answer = got("/w/a/f");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo(bytes);
    assertThat(header(answer, "content-type")).isEqualTo("image/x");
    assertThat(header(answer, "content-length")).isEqualTo(Integer.toString(length));
    assertThat(header(answer, "content-md5")).isEqualTo(base64Md5(bytes));
    assertThat(header(answer, "etag")).isEqualTo('"' + base64Md5(bytes) + '"');
    assertThat(header(answer, "accept-ranges")).isEqualTo("bytes");
    assertThat(header(answer, "content-security-policy")).isEqualTo("sandbox");
    HttpResponse<byte[]> head = send("HEAD", "/w/a/f", null);
    assertThat(header(head, "content-length")).isEqualTo(Integer.toString(length));
    assertThat(head.body()).isEmpty();
    assertThat(got("/w/a/f", "If-None-Match", header(answer, "etag")).statusCode()).isEqualTo(304);
  }

  /** As in CouchDB, * does not match. */
  @Test
  void the_sizes_of_a_database_count_what_its_leaves_show() {
    byte[] bytes = new byte[200_000];
    new Random(1).nextBytes(bytes);
    String type = "application/octet-stream";
    byte[] answer = send("PUT", "/w/a/photo", bytes, "Content-Type", type).body();
    String made = new String(answer, StandardCharsets.UTF_8);
    assertThat(size("file")).isBetween(200_000L, 201_000L).isEqualTo(size("active"));
    assertThat(size("external")).isBetween(200_000L, 201_000L);

    String rev = made.replaceAll(".*\"rev\":\"|\"}\\s*$", "");
    String second =
        server.write("/w/a?rev=" + rev, "{\"_attachments\":{\"photo\":{\"stub\":true}}}");
    assertThat(size("active")).isBetween(200_000L, 201_000L);
    send("PUT", "/w/b/copy", bytes, "Content-Type", type);
    assertThat(size("active")).isBetween(400_000L, 402_000L);

    server.delete("/w/a?rev=" + second);
    assertThat(size("file")).isBetween(200_000L, 201_000L).isEqualTo(size("active"));
  }

  private long size(String name) {
    JsonObject info = (JsonObject) JsonValue.parse(utf8(server.get("/w").body()));
    JsonObject sizes = (JsonObject) info.get("sizes").orElseThrow();
    return Long.parseLong(((JsonValue.JsonNumber) sizes.get(name).orElseThrow()).text());
  }

  @Test
  void an_attachment_that_a_client_has_under_any_of_its_tags_is_not_sent_again() {
    String first = stored("/w/a/f", random(5));
    stored("/w/a/z?rev=" + first, random(2_000), "Content-Type", "text/plain");
    for (String target : new String[] {"/w/a/f", "/w/a/z", "/w/a", "/w/a?attachments=true"}) {
      String tag = header(got(target), "etag");
      for (String tags :
          new String[] {tag, "W/" + tag, "\"x\", " + tag, "\"x\",W/" + tag + ", \"y\""}) {
        HttpResponse<byte[]> seen = got(target, "If-None-Match", tags);
        assertThat(seen.statusCode()).as(target + " " + tags).isEqualTo(304);
        assertThat(seen.body()).isEmpty();
        assertThat(header(seen, "etag")).isEqualTo(tag);
      }
      for (String tags : new String[] {"*", "\"x\"", "\"x\", W/\"y\"", ""}) {
        assertThat(got(target, "If-None-Match", tags).statusCode()).isEqualTo(200);
      }
    }
  }

  @Test
  void a_document_shows_its_attachments_as_stubs() {
    String first = stored("/w/a/f/g%2Fh.bin", random(5), "Content-Type", "image/x");
    String second = stored("/w/a/i?rev=" + first, random(7));

    server
        .get("/w/a")
        .expect(
            "{\"_id\":\"a\",\"_rev\":\"%s\",\"_attachments\":{\"i\":{\"content_type\":\"application/octet-stream\",\"revpos\":2,\"digest\":\"md5-%s\",\"length\":7,\"stub\":true},\"f/g/h.bin\":{\"content_type\":\"image/x\",\"revpos\":1,\"digest\":\"md5-%s\",\"length\":5,\"stub\":true}}}\n"
                .formatted(second, base64Md5(random(7)), base64Md5(random(5))));
    server.get("/w/a?rev=" + second).expect(server.get("/w/a").body());
    server.get("/w/a?conflicts=true").expect(server.get("/w/a").body());
    assertThat(server.get("/w/_all_docs?include_docs=true").body())
        .contains("\"_attachments\":{\"i\":{");
    assertThat(server.post("/w/_all_docs?include_docs=true", "{\"keys\":[\"a\"]}").body())
        .contains("\"_attachments\":{\"i\":{");
    assertThat(server.get("/w/_changes?include_docs=true").body())
        .contains("\"_attachments\":{\"i\":{");
    assertThat(got("/w/a/f/g/h.bin").body()).isEqualTo(random(5));
  }

  @Test
  void an_edit_keeps_what_its_stubs_name() {
    String first = stored("/w/a/f", random(5));
    String json = server.get("/w/a").body().replace("\"_id\"", "\"v\":1,\"_id\"");
    server.put("/w/a", json).expect(201);
    assertThat(got("/w/a/f").body()).isEqualTo(random(5));
    assertThat(server.get("/w/a").member("_rev")).isNotEqualTo(first).startsWith("2-");

    server
        .put(
            "/w/a",
            "{\"_rev\":\"%s\",\"_attachments\":{\"x\":{\"stub\":true}}}"
                .formatted(server.get("/w/a").member("_rev")))
        .expect(
            412,
            "{\"error\":\"missing_stub\",\"reason\":\"Invalid attachment stub in a for"
                + " x\",\"missing\":[\"x\"]}\n");
  }

  @Test
  void inline_attachments_are_stored_and_compressed_by_type() {
    byte[] long_text = utf8("lorem ipsum ".repeat(1_000));
    String json =
        "{\"_id\":\"a\",\"_attachments\":{\"t\":{\"content_type\":\"text/plain; charset=utf-8\",\"data\":\"%s\"},\"b\":{\"data\":\"%s\"}}}"
            .formatted(
                Base64.getEncoder().encodeToString(long_text),
                Base64.getEncoder().encodeToString(random(9)));
    server.post("/w", json).expect(201);

    assertThat(server.get("/w/a").body()).contains("\"length\":12000,\"stub\":true");
    assertThat(got("/w/a/b").body()).isEqualTo(random(9));
    HttpResponse<byte[]> plain = got("/w/a/t");
    assertThat(plain.body()).isEqualTo(long_text);
    assertThat(header(plain, "content-length")).isEqualTo("12000");
    assertThat(header(plain, "accept-ranges")).isEqualTo("none");
    HttpResponse<byte[]> compressed = got("/w/a/t", "Accept-Encoding", "deflate, gzip;q=0.5");
    assertThat(header(compressed, "content-encoding")).isEqualTo("gzip");
    assertThat(compressed.body().length).isLessThan(1_000);
    assertThat(gunzip(compressed.body())).isEqualTo(long_text);
    assertThat(server.get("/w/a").body()).contains("md5-" + base64Md5(compressed.body()));
    assertThat(got("/w/a/t", "Accept-Encoding", "gzip;q=0").body()).isEqualTo(long_text);
    assertThat(got("/w/a/t", "Range", "bytes=1-2").statusCode()).isEqualTo(200);
    String[] impossible = {"Accept-Encoding", "gzip", "Range", "bytes=9-5"};
    assertThat(got("/w/a/t", impossible).statusCode()).isEqualTo(416);
    assertThat(got("/w/a/t", "Range", "bytes=12000-").statusCode()).isEqualTo(416);
  }

  /** The digests are those of CouchDB 3.5.0 for the same requests. */
  @Test
  void what_is_compressed_has_the_digest_that_couchdb_gives_it() {
    stored("/w/a/f", utf8("abc"), "Content-Type", "text/plain");
    stored("/w/b/f", utf8(""), "Content-Type", "text/plain");
    stored("/w/c/f", utf8(""), "Content-Type", "image/png");

    assertThat(server.get("/w/a").body()).contains("md5-MyWy3nseSuM/cBHOQ46DVQ==");
    String empty = server.get("/w/b?att_encoding_info=true").body();
    assertThat(empty).contains("md5-cCkGbCesb17xjWYNV0GXmg==", "\"encoded_length\":20");
    assertThat(server.get("/w/c").body()).contains("md5-1B2M2Y8AsgTpgAmY7PhCfg==");
    assertThat(got("/w/b/f").body()).isEmpty();
    assertThat(header(got("/w/b/f"), "content-length")).isEqualTo("0");
    byte[] compressed = got("/w/b/f", "Accept-Encoding", "gzip").body();
    assertThat(compressed).hasSize(20);
    assertThat(gunzip(compressed)).isEmpty();
  }

  @Test
  void compressed_content_has_the_digest_that_couchdb_gives_it() {
    String json =
        "{\"_id\":\"a\",\"_attachments\":{\"t\":{\"content_type\":\"text/plain\",\"data\":\"%s\"}}}"
            .formatted(Base64.getEncoder().encodeToString(utf8("This is a base64 encoded text")));
    server.post("/w", json).expect(201);

    assertThat(server.get("/w/a").body())
        .contains("\"digest\":\"md5-qUUYqS41RhwF0TrCsTAxFg==\",\"length\":29");
  }

  @Test
  void what_a_client_compressed_is_kept_and_decompressed_for_others() {
    byte[] text = utf8("hallo ".repeat(100));
    byte[] zipped = Request.gzip(text);
    stored("/w/a/f", zipped, "Content-Encoding", "gzip", "Content-Type", "text/plain");

    assertThat(got("/w/a/f", "Accept-Encoding", "gzip").body()).isEqualTo(zipped);
    assertThat(got("/w/a/f").body()).isEqualTo(text);
    assertThat(server.get("/w/a").body()).contains("\"length\":600");
    assertThat(send("PUT", "/w/b/f", zipped, "Content-Encoding", "br").statusCode()).isEqualTo(415);
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0,206,0-0/10,0",
    "bytes=2-4,206,2-4/10,234",
    "bytes=5-,206,5-9/10,56789",
    "bytes=-3,206,7-9/10,789",
    "bytes=-30,206,0-9/10,0123456789",
    "bytes=8-99,206,8-9/10,89",
    "bytes=0-,200,,0123456789",
    "bytes=x,200,,0123456789",
    "lines=1-2,200,,0123456789",
  })
  void a_part_is_got(String range, int status, String contentRange, String part) {
    stored("/w/a/f", utf8("0123456789"));
    HttpResponse<byte[]> answer = got("/w/a/f", "Range", range);

    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(text(answer)).isEqualTo(part);
    assertThat(header(answer, "content-range"))
        .isEqualTo(contentRange == null ? "" : "bytes " + contentRange);
  }

  @ParameterizedTest
  @CsvSource({"bytes=10-", "bytes=4-2", "bytes=-0", "bytes=99-100"})
  void a_part_that_is_not_there_is_416(String range) {
    stored("/w/a/f", utf8("0123456789"));
    HttpResponse<byte[]> answer = got("/w/a/f", "Range", range);

    assertThat(answer.statusCode()).isEqualTo(416);
    assertThat(header(answer, "content-range")).isEqualTo("bytes */10");
    assertThat(text(answer)).contains("requested_range_not_satisfiable");
  }

  @Test
  void several_parts_come_as_multipart() {
    stored("/w/a/f", utf8("0123456789"), "Content-Type", "image/x");
    HttpResponse<byte[]> answer = got("/w/a/f", "Range", "bytes=0-1,4-5");

    assertThat(answer.statusCode()).isEqualTo(206);
    String boundary =
        header(answer, "content-type")
            .replaceAll("multipart/byteranges; boundary=\"([0-9a-f]+)\"", "$1");
    assertThat(text(answer))
        .isEqualTo(
            ("--B\r\nContent-Type: image/x\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n--B"
                    + "\r\nContent-Type: image/x\r\nContent-Range: bytes 4-5/10\r\n\r\n45\r\n--B--")
                .replace("B", boundary));
    String ten = "bytes=0-0" + ",1-1".repeat(9);
    assertThat(got("/w/a/f", "Range", ten).statusCode()).isEqualTo(200);
  }

  @Test
  void a_revision_is_needed_and_has_to_be_the_last() {
    String first = stored("/w/a/f", random(1));
    assertThat(send("PUT", "/w/a/f", random(2)).statusCode()).isEqualTo(409);
    assertThat(send("PUT", "/w/a/f?rev=1-abc", random(2)).statusCode()).isEqualTo(409);
    String second = stored("/w/a/f?rev=" + first, random(2));
    assertThat(send("PUT", "/w/a/f?rev=" + first, random(3)).statusCode()).isEqualTo(409);

    assertThat(send("DELETE", "/w/a/f", null).statusCode()).isEqualTo(409);
    assertThat(send("DELETE", "/w/a/f?rev=" + first, null).statusCode()).isEqualTo(409);
    assertThat(send("DELETE", "/w/none/f?rev=1-abc", null).statusCode()).isEqualTo(409);
    assertThat(send("DELETE", "/w/none/f", null).statusCode()).isEqualTo(404);
    assertThat(send("DELETE", "/w/a/g?rev=" + second, null).statusCode()).isEqualTo(404);
    assertThat(send("DELETE", "/w/a/f?rev=" + second, null).statusCode()).isEqualTo(200);
    assertThat(got("/w/a/f").statusCode()).isEqualTo(404);
    assertThat(server.get("/w/a").body()).doesNotContain("_attachments");
  }

  @Test
  void design_documents_have_attachments_and_local_documents_have_none() {
    stored("/w/_design/d/index.html", utf8("<p>"), "Content-Type", "text/html");
    assertThat(text(got("/w/_design/d/index.html"))).isEqualTo("<p>");
    assertThat(text(got("/w/_design%2Fd/index.html"))).isEqualTo("<p>");
    HttpResponse<byte[]> local = send("PUT", "/w/_local/l/f", random(1));
    assertThat(local.statusCode()).isEqualTo(400);
    assertThat(text(local)).contains("_local documents do not accept attachments.");
  }

  @Test
  void what_is_too_long_or_damaged_stores_nothing() {
    HttpResponse<byte[]> tooLong = send("PUT", "/w/a/f", random(MOST + 1));
    assertThat(tooLong.statusCode()).isEqualTo(413);
    assertThat(text(tooLong)).contains("attachment_too_large");
    HttpResponse<byte[]> damaged =
        send("PUT", "/w/a/f", random(9), "Content-MD5", base64Md5(random(8)));
    assertThat(damaged.statusCode()).isEqualTo(400);
    assertThat(text(damaged)).contains("content_md5_mismatch");
    assertThat(send("PUT", "/w/a/_f", random(9)).statusCode()).isEqualTo(400);
    assertThat(send("PUT", "/nodb/a/f", random(9)).statusCode()).isEqualTo(404);
    String inline =
        "{\"_attachments\":{\"f\":{\"data\":\"%s\"}}}"
            .formatted(Base64.getEncoder().encodeToString(random(MOST + 1)));
    server.put("/w/a", inline).expect(413);
    server.get("/w/a").expect(404);

    stored("/w/a/f", random(9), "Content-MD5", base64Md5(random(9)));
  }

  /** As in CouchDB. What cannot stand in a header becomes a space there. */
  @ParameterizedTest
  @CsvSource({
    "application/pdf; name=\\\"Ü.pdf\\\",application/pdf; name=\"Ü.pdf\"",
    "image/x;\\r\\n a=b\\n,image/x;   a=b",
    "image/x\\u0000\\u00a0y,image/x \u00a0y",
    "密码,密码"
  })
  void a_type_is_any_text_and_no_header_ends_in_it(String json, String header) {
    String data = Base64.getEncoder().encodeToString(random(9));
    String attachment = "{\"content_type\":\"" + json + "\",\"data\":\"" + data + "\"}";
    server.put("/w/a", "{\"_attachments\":{\"f\":" + attachment + "}}").expect(201);

    JsonValue type =
        ((JsonObject) JsonValue.parse(utf8(attachment))).get("content_type").orElseThrow();
    JsonObject all = (JsonObject) JsonValue.parse(utf8(server.get("/w/a").body()));
    JsonObject shown = (JsonObject) all.get("_attachments").orElseThrow();
    assertThat(((JsonObject) shown.get("f").orElseThrow()).get("content_type")).contains(type);
    byte[] sent = header(got("/w/a/f"), "content-type").getBytes(StandardCharsets.ISO_8859_1);
    assertThat(new String(sent, StandardCharsets.UTF_8)).isEqualTo(header);
    String ranges = text(got("/w/a/f", "Range", "bytes=0-1,3-4"));
    assertThat(ranges).contains("\r\nContent-Type: " + header + "\r\n");
    String parts = text(got("/w/a?attachments=true", "Accept", "multipart/related"));
    assertThat(parts).contains("\r\nContent-Type: ");
    assertThat(got("/w/a/f").body()).isEqualTo(random(9));
  }

  @Test
  void a_type_in_a_header_is_utf_8_or_latin_1() {
    String chinese = new String(utf8("密码"), StandardCharsets.ISO_8859_1);
    server.request("PUT", "/w/c/f", "Content-Type", chinese).body(random(9)).send();
    assertThat(server.get("/w/c").body()).contains("\"content_type\":\"密码\"");
    String utf8 = new String(utf8("text/ü"), StandardCharsets.ISO_8859_1);
    for (String sent : new String[] {utf8, "text/ü"}) {
      server
          .request("PUT", "/w/a" + sent.length() + "/f", "Content-Type", sent)
          .body(random(9))
          .send();
      assertThat(server.get("/w/a" + sent.length()).body()).contains("\"content_type\":\"text/ü\"");
    }
  }

  @Test
  void an_attachment_is_that_of_the_leaf_that_followed_if_this_is_wanted() {
    String old = stored("/w/a/f", random(9));
    String rev = stored("/w/a/f?rev=" + old, random(10));
    assertThat(got("/w/a/f?rev=" + old).statusCode()).isEqualTo(404);
    assertThat(got("/w/a/f?latest=true&rev=" + old).body()).isEqualTo(random(10));
    assertThat(got("/w/a/f?latest=true&rev=" + rev).body()).isEqualTo(random(10));
    assertThat(got("/w/a/f?latest=true&rev=1-b").statusCode()).isEqualTo(404);
  }

  @Test
  void a_refused_attachment_is_not_read_and_a_short_one_leaves_its_connection_open() {
    stored("/w/a/f", random(9));
    try (Connection connection = server.connect()) {
      connection.write("PUT /w/a/f HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
      connection.read(false).expect(409);
      connection.write("GET /w HTTP/1.1\r\nHost: h\r\n\r\n");
      connection.read(false).expect(200);
    }
    try (Connection connection = server.connect()) {
      connection.write("PUT /w/a/f HTTP/1.1\r\nHost: h\r\nContent-Length: 999999\r\n\r\nabc");
      Answer refused = connection.read(false).expect(409);
      assertThat(refused.header("connection")).isEqualTo("close");
    }
  }

  @Test
  void a_wrong_md5_damages_no_attachment_with_the_same_bytes() {
    byte[] bytes = random(MOST);
    String wrong = base64Md5(random(1));
    assertThat(send("PUT", "/w/a/f", bytes, "Content-MD5", wrong).statusCode()).isEqualTo(400);
    stored("/w/b/f", bytes);
    assertThat(got("/w/b/f").body()).isEqualTo(bytes);
  }

  @Test
  void a_client_that_leaves_leaves_nothing() {
    byte[] part = random(900_000);
    try (Connection connection = server.connect()) {
      connection.write("PUT /w/a/f HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
      connection.write(part);
      Await.until("some of it is stored", () -> rows(AttachmentKeys.CHUNKS) > 0);
    }
    Await.until("it is cleared", () -> rows(AttachmentKeys.CHUNKS) == 0);
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
    server.get("/w/a").expect(404);
  }

  private int rows(AttachmentKeys part) {
    return TestDatabase.open(server.store(), "w")
        .read(
            (tx, handle) ->
                Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }

  @Test
  void a_slow_reader_gets_all_of_it() {
    stored("/w/a/f", random(MOST));
    try (Connection connection = new Connection(server.port(), 16 << 10)) {
      connection.write("GET /w/a/f HTTP/1.1\r\nHost: h\r\n\r\n");
      connection.readHead().expect(200);
      assertThat(connection.bytes(MOST)).isEqualTo(random(MOST));
    }
  }

  @Test
  void a_copy_has_the_attachments_of_its_source() {
    stored("/w/a/f", random(9));
    server.request("COPY", "/w/a", "Destination", "b").send().expect(201);
    assertThat(got("/w/b/f").body()).isEqualTo(random(9));
  }

  /** Attachments of documents, none of which has any. */
  @Nested
  class Missing {
    @BeforeEach
    void create() {
      server.put("/w");
      server.put("/w/a?new_edits=false", "{\"_rev\":\"1-a\"}");
      server.put("/w/gone?new_edits=false", "{\"_rev\":\"1-a\",\"_deleted\":true}");
      server.put("/w/_design/d", "{}");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        textBlock =
            """
            /w/a/f              | 404 | not_found   | Document is missing attachment
            /w/a/f/g            | 404 | not_found   | Document is missing attachment
            /w/a/f?rev=1-a      | 404 | not_found   | Document is missing attachment
            /w/a/f?rev=x        | 400 | bad_request | Invalid rev format
            /w/none/f           | 404 | not_found   | missing
            /w/gone/f           | 404 | not_found   | deleted
            /w/_design/d/f      | 404 | not_found   | Document is missing attachment
            /w/_design/d/nope   | 404 | not_found   | Document is missing attachment
            /w/_design%2Fd/f    | 404 | not_found   | Document is missing attachment
            /w/_design/none/f   | 404 | not_found   | missing
            /nodb/a/f           | 404 | not_found   | Database does not exist.
            """)
    void there_is_none(String target, int status, String error, String reason) {
      for (String method : new String[] {"GET", "DELETE"}) {
        server
            .request(method, target)
            .send()
            .expect(status, "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n");
      }
      server.head(target).expect(status);
    }

    @Test
    void a_revision_that_is_unknown_has_none_and_deletes_none() {
      server.get("/w/a/f?rev=9-a").expect(404);
      server.head("/w/a/f?rev=9-a").expect(404);
      for (String method : List.of("PUT", "DELETE")) {
        for (String target : List.of("/w/a/f", "/w/none/f")) {
          server
              .request(method, target + "?rev=9-a")
              .send()
              .expect(409, "{\"error\":\"not_found\",\"reason\":\"missing_rev\"}\n");
        }
      }
    }

    @Test
    void at_a_revision_that_was_replaced_or_is_deleted_nothing_is_edited() {
      String replaced = server.put("/w/r", "{}").member("rev");
      String deleted = server.request("DELETE", "/w/r?rev=" + replaced).send().member("rev");

      for (String method : List.of("PUT", "DELETE")) {
        Answer edited = server.request(method, "/w/r/f?rev=" + replaced).send().expect(409);
        assertThat(edited.member("reason")).isEqualTo("Document update conflict.");
      }
      server.request("PUT", "/w/r/f?rev=" + deleted).send().expect(409);
    }

    @Test
    void other_methods_are_refused() {
      Answer posted = server.post("/w/a/f", "{}").expect(405);
      assertThat(posted.header("allow")).isEqualTo("DELETE,GET,HEAD,PUT");
    }

    @ParameterizedTest
    @CsvSource({"_show/s", "_list/l/v", "_rewrite/r", "_search/s"})
    void what_design_documents_do_is_absent(String path) {
      Answer answer = server.get("/w/_design/d/" + path).expect(501);
      assertThat(answer.member("reason"))
          .startsWith(
              "/{db}/_design/{name}/"
                  + path.replaceFirst("/.*", "")
                  + " is a part of CouchDB that Lectus does not have");
    }
  }

  /** Attachments whose bytes are not sent, since the database has them under another name. */
  @Nested
  class ByDigest {
    private static final byte[] BYTES = new byte[100_001];

    static {
      new Random(7).nextBytes(BYTES);
    }

    @RegisterExtension static final TestStores stores = SoundStore.stores();

    @AutoClose private final LectusServer server = LectusServer.start(stores.fresh());

    @BeforeEach
    void a_document_with_attachments() {
      server.put("/w");
      put("/w/a/f", "image/x", BYTES);
    }

    private void put(String target, String type, byte[] bytes) {
      Answer answer = server.request("PUT", target, "Content-Type", type).body(bytes).send();
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    }

    private static String sha256(byte[] bytes) {
      return Base64.getEncoder().encodeToString(Digests.sha256().digest(bytes));
    }

    private static String stub(byte[] bytes, String more) {
      return "{\"_attachments\":{\"g\":{\"stub\":true,\"content_type\":\"image/y\",\"digest\":\"sha256-%s\",\"length\":%d%s}}}"
          .formatted(sha256(bytes), bytes.length, more);
    }

    @Test
    void a_content_that_is_there_need_not_be_sent() {
      Answer put = server.put("/w/b", stub(BYTES, ""));

      assertThat(put.status()).as(put.body()).isEqualTo(201);
      assertThat(server.get("/w/b/g").header("content-type")).isEqualTo("image/y");
      String shown = server.get("/w/b").body();
      assertThat(shown).contains("\"revpos\":1", "\"length\":100001,\"stub\":true");
      assertThat(server.get("/w/b/g").header("content-md5"))
          .isEqualTo(server.get("/w/a/f").header("content-md5"));
      assertThat(server.head("/w/b/g").header("repr-digest"))
          .isEqualTo("sha-256=:" + sha256(BYTES) + ":");
    }

    @Test
    void it_stays_when_the_document_goes_from_which_it_was_taken() {
      server.put("/w/b", stub(BYTES, ""));
      String rev = server.get("/w/a").member("_rev");
      server.delete("/w/a?rev=" + rev).expect(200);
      server.get("/w/b/g").expect(200);
    }

    @Test
    void replicated_and_bulk_edits_may_name_contents_too() {
      String doc =
          stub(BYTES, ",\"revpos\":2").replaceFirst("\\{", json("{'_id':'r','_rev':'3-a',"));
      server.post("/w/_bulk_docs", "{\"new_edits\":false,\"docs\":[" + doc + "]}").expect(201);
      assertThat(server.get("/w/r").body()).contains("\"revpos\":2");
      assertThat(server.get("/w/r/g").header("repr-digest")).contains(sha256(BYTES));
    }

    @Test
    void a_compressed_content_is_named_as_it_is_stored() {
      put("/w/t/f", "text/plain", "hallo ".repeat(100).getBytes(StandardCharsets.UTF_8));
      Answer head = server.request("HEAD", "/w/t/f", "Accept-Encoding", "gzip").send();
      String digest = head.header("repr-digest").replaceAll("sha-256=:(.*):", "$1");
      String stub =
          "{\"_attachments\":{\"g\":{\"stub\":true,\"content_type\":\"text/plain\",\"digest\":\"sha256-%s\",\"length\":600,\"encoding\":\"gzip\",\"encoded_length\":%s}}}"
              .formatted(digest, head.header("content-length"));

      server.put("/w/b", stub).expect(201);
      server.get("/w/b/g").expect("hallo ".repeat(100));
      server.put("/w/c", stub.replaceAll(",\"encoded_length\":[0-9]+", "")).expect(400);
    }

    @Test
    void what_is_not_there_is_a_missing_stub() {
      byte[] others = new byte[10];
      server.put("/w/b", stub(others, "")).expect(412);
      String several =
          stub(others, "").replaceFirst("\"g\":(\\{.*?\\})", "\"a\":$1,\"f\":$1,\"g\":$1");
      assertThat(server.put("/w/b", several.replaceFirst(sha256(others), sha256(BYTES))).body())
          .contains("missing_stub", "Invalid attachment stub in b for a", "[\"a\",\"f\",\"g\"]");
      String wrongLength = stub(BYTES, "").replace("100001", "100000");
      server.put("/w/b", wrongLength).expect(412);
      server.put("/w/b", stub(BYTES, "").replace(",\"length\":100001", "")).expect(400);
      server.put("/v");
      assertThat(server.put("/v/b", stub(BYTES, "")).status())
          .as("another database's contents are not this one's")
          .isEqualTo(412);
      server.get("/w/b").expect(404);
    }

    @Test
    void a_client_is_sent_what_it_does_not_have() {
      byte[] others = {1, 2, 3};
      put("/w/a/g?rev=" + server.get("/w/a").member("_rev"), "image/x", others);
      String held = "%5B%22sha256-" + sha256(BYTES).replace("+", "%2B") + "%22%5D";

      String target = "/w/a?attachments=true&atts_held=" + held;
      String shown = server.request("GET", target, "Accept", "application/json").send().body();

      assertThat(shown)
          .contains(
              json("'digest':'sha256-%s','length':100001,'stub':true").formatted(sha256(BYTES)))
          .contains(json("'data':'AQID'"));
      server.get("/w/a?attachments=true&atts_held=%5B%22md5-x%22%5D").expect(400);
    }

    @Test
    void in_a_database_of_users_nobody_takes_what_others_have() {
      server.put("/_users");
      String user = "{\"type\":\"user\",\"name\":\"%s\",\"roles\":[],\"password\":\"x\",%s";
      String own =
          json("'_attachments':{'f':{'data':'%s'}}}")
              .formatted(Base64.getEncoder().encodeToString(BYTES));
      server.put("/_users/org.couchdb.user:a", user.formatted("a", own)).expect(201);
      String taken = user.formatted("b", stub(BYTES, "").substring(1));
      server.put("/_users/org.couchdb.user:b", taken).expect(412);
    }
  }

  /** Forms as browsers send them, with files for a document. */
  @Nested
  class Forms {
    private String rev;

    @BeforeEach
    void a_document() {
      server.put("/w");
      rev =
          server.write(
              "/w/a", json("{'v':1,'_attachments':{'old':{'data':'YQ=='},'x':{'data':'Yg=='}}}"));
    }

    private static String field(String name, String value) {
      return "--B\r\nContent-Disposition: form-data; name=\""
          + name
          + "\"\r\n\r\n"
          + value
          + "\r\n";
    }

    private static String file(String name, String type, String bytes) {
      return json("--B\r\n"
              + "Content-Disposition: form-data; name='_attachments'; filename='%s'\r\n"
              + "Content-Type: %s\r\n\r\n"
              + "%s\r\n")
          .formatted(name, type, bytes);
    }

    private Answer post(String target, String... parts) {
      return server
          .request(
              "POST",
              target,
              "Content-Type",
              "multipart/form-data; boundary=B",
              "Referer",
              "http://host/_utils/")
          .body((String.join("", parts) + "--B--\r\n").getBytes(StandardCharsets.UTF_8))
          .send();
    }

    @Test
    void files_are_added_to_the_document_and_replace_those_of_their_name() {
      Answer answer =
          post(
              "/w/a",
              file("größe x.png", "image/png", "\r\n--\r\n--A"),
              field("_rev", rev),
              file("x", "text/x", "new"));

      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
      assertThat(answer.header("etag")).isEqualTo('"' + answer.member("rev") + '"');
      assertThat(server.get("/w/a").body())
          .contains("\"v\":1", "\"old\"", "\"größe x.png\":{\"content_type\":\"image/png\"");
      server.get("/w/a/gr%C3%B6%C3%9Fe%20x.png").expect("\r\n--\r\n--A");
      server.get("/w/a/x").expect("new");
      server.get("/w/a/old").expect("a");
    }

    @Test
    void a_form_with_a_document_replaces_it_or_makes_one() {
      Answer made = post("/w/_design/n", field("_doc", "{\"v\":2}"), file("f", "a/b", "c"));
      assertThat(made.status()).as(made.body()).isEqualTo(201);
      assertThat(server.get("/w/_design/n/f").header("content-type")).isEqualTo("a/b");
      String stub = "{\"_rev\":\"" + rev + "\",\"v\":3,\"_attachments\":{\"old\":{\"stub\":true}}}";
      post("/w/a", file("f", "a/b", "c"), field("_doc", stub)).expect(201);
      assertThat(server.get("/w/a").body()).contains("\"v\":3", "\"old\"", "\"f\"");
      server.get("/w/a/x").expect(404);
    }

    @Test
    void what_is_wrong_with_a_form_stores_nothing() {
      String file = file("f", "a/b", "c");
      assertThat(post("/w/a", file).member("reason")).isEqualTo("The form needs _rev or _doc.");
      post("/w/a", file, field("_rev", "x")).expect(400);
      post("/w/a", file, field("_rev", "9-a")).expect(409);
      post("/w/none", file, field("_rev", rev)).expect(409);
      post("/w/a", file, field("_doc", "{}")).expect(409);
      assertThat(post("/w/a", field("_rev", rev), file("_f", "a/b", "c")).member("reason"))
          .isEqualTo("Attachment name '_f' starts with prohibited character '_'");
      post("/w/a", field("_rev", rev), field("x", "").repeat(999)).expect(201);
      post("/w/a", field("_rev", rev), field("x", "").repeat(1_000)).expect(413);
      post("/none/a", file, field("_rev", rev)).expect(404);
      server.get("/w/a/f").expect(404);
    }
  }
}
