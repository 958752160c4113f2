package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.attachment.AttachmentIntake.ContentStore;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentUpload.Content;
import lectus.attachment.Digests;
import lectus.audit.testing.SoundStore;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.document.edit.EditedAttachment;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attachments that clients have compressed, or say so: what they are when decompressed counts. */
final class GzipAttachmentsTest {
  private static final int MOST = 1_000_000;
  private static final String TEXT = "hallo ".repeat(100);
  private static final byte[] ZIPPED = Request.gzip(utf8(TEXT));

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();

  @AutoClose
  private final LectusServer server =
      LectusServer.start(
          store,
          new TestSettings()
              .documents(
                  new DocumentLimits(
                      DocumentLimits.DEFAULT.idBytes(),
                      DocumentLimits.DEFAULT.json(),
                      new AttachmentSettings(MOST, Compression.NONE))));

  @BeforeEach
  void create() {
    server.put("/w");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(parts).forEach(all::writeBytes);
    return all.toByteArray();
  }

  private Answer put(String target, byte[] bytes) {
    return server.request("PUT", target, "Content-Encoding", "gzip").body(bytes).send();
  }

  private int rows(AttachmentKeys part) {
    return TestDatabase.open(store, "w")
        .read(
            (tx, handle) ->
                Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }

  private static Stream<byte[]> falseOnes() {
    byte[] damaged = ZIPPED.clone();
    damaged[damaged.length - 6] ^= 1;
    return Stream.of(
        new byte[0],
        utf8("plain"),
        Arrays.copyOf(ZIPPED, ZIPPED.length - 1),
        damaged,
        joined(ZIPPED, utf8("behind")));
  }

  @Test
  void what_is_none_is_refused_however_it_comes() {
    falseOnes()
        .forEach(
            bytes -> {
              Answer put = put("/w/a/f", bytes);
              assertThat(put.status()).as(put.body()).isEqualTo(400);
              assertThat(put.member("error")).isEqualTo("bad_request");
              assertThat(put.member("reason"))
                  .isEqualTo("The attachment f is announced as gzip and is none");
              related(bytes, bytes.length).expect(400);
            });
    server.get("/w/a").expect(404);
    assertThat(rows(AttachmentKeys.CONTENTS)).isZero();
  }

  private Answer related(byte[] bytes, long length) {
    String document =
        "{\"_attachments\":{\"f\":{\"follows\":true,\"encoding\":\"gzip\",\"length\":%d,\"encoded_length\":%d}}}"
            .formatted(length, bytes.length);
    byte[] body =
        joined(
            utf8("--b\r\nContent-Type: application/json\r\n\r\n" + document + "\r\n--b\r\n\r\n"),
            bytes,
            utf8("\r\n--b--"));
    return server
        .request("PUT", "/w/a", "Content-Type", "multipart/related; boundary=b")
        .body(body)
        .send();
  }

  @Test
  void a_length_that_is_false_is_refused() {
    for (long length : new long[] {0, 5, 599, 601, 5_000, 999_999_999_999_999_999L}) {
      Answer refused = related(ZIPPED, length);
      assertThat(refused.status()).as("length %d", length).isEqualTo(400);
      assertThat(refused.member("error")).isEqualTo("bad_request");
    }
    server.get("/w/a").expect(404);
  }

  /** CouchDB gives the length of the compressed bytes for what was PUT as gzip. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void the_true_length_is_kept_and_that_of_the_compressed_bytes_is_none(boolean isTrue) {
    Answer put = related(ZIPPED, isTrue ? TEXT.length() : ZIPPED.length);
    assertThat(put.status()).as(put.body()).isEqualTo(201);
    assertIsText("/w/a");
  }

  private void assertIsText(String document) {
    Answer whole = server.get(document + "/f");
    assertThat(whole.header("content-length")).isEqualTo(Integer.toString(TEXT.length()));
    whole.expect(TEXT);
    assertThat(server.get(document + "?att_encoding_info=true").body())
        .contains("\"length\":600,\"stub\":true", "\"encoded_length\":" + ZIPPED.length + "}");
    String target = document + "?attachments=true";
    assertThat(server.request("GET", target, "Accept", "application/json").send().body())
        .contains(Base64.getEncoder().encodeToString(utf8(TEXT)));
  }

  @Test
  void what_is_gzip_is_taken_however_it_comes() {
    put("/w/a/f", ZIPPED).expect(201);
    assertIsText("/w/a");
    server.put("/v");
    byte[] two =
        joined(Request.gzip(utf8(TEXT.substring(0, 7))), Request.gzip(utf8(TEXT.substring(7))));
    put("/v/a/f", two).expect(201);
    server.get("/v/a/f").expect(TEXT);
    String rev = server.get("/w/a").member("_rev");
    server.delete("/w/a?rev=" + rev);
    related(ZIPPED, TEXT.length()).expect(201);
    assertIsText("/w/a");
  }

  /** As CouchDB shows it with {@code attachments=true}: the data are those before compression. */
  @Test
  void data_within_a_document_are_plain_whatever_their_encoding() {
    String json =
        "{\"_attachments\":{\"f\":{\"encoding\":\"gzip\",\"encoded_length\":3,\"data\":\"%s\"}}}"
            .formatted(Base64.getEncoder().encodeToString(utf8(TEXT)));
    server.put("/w/a", json).expect(201);
    server.get("/w/a/f").expect(TEXT);
  }

  @Test
  void what_is_decompressed_is_no_longer_than_an_attachment_may_be() {
    put("/w/a/f", Request.gzip(new byte[MOST])).expect(201);
    assertThat(server.get("/w").body()).contains("\"external\":1000002");

    Answer bomb = put("/w/b/f", Request.gzip(new byte[MOST + 1])).expect(413);
    assertThat(bomb.member("error")).isEqualTo("attachment_too_large");
    related(Request.gzip(new byte[50 * MOST]), 9).expect(413);
  }

  private static String stub(byte[] stored, long length) {
    return "{\"_attachments\":{\"f\":{\"stub\":true,\"digest\":\"sha256-%s\",\"encoding\":\"gzip\",\"length\":%d,\"encoded_length\":%d}}}"
        .formatted(
            Base64.getEncoder().encodeToString(Digests.sha256().digest(stored)),
            length,
            stored.length);
  }

  @Test
  void a_stub_by_digest_tells_the_true_length_of_what_is_gzip() {
    put("/w/a/f", ZIPPED);
    server.put("/w/b", stub(ZIPPED, 5)).expect(412);
    server.put("/w/b", stub(ZIPPED, 5_000)).expect(412);
    server.put("/w/b", stub(ZIPPED, TEXT.length())).expect(201);
    assertIsText("/w/b");
    server.put("/w/c", stub(ZIPPED, ZIPPED.length)).expect(201);
    assertIsText("/w/c");
  }

  @Test
  void a_content_that_nobody_called_gzip_is_verified_when_it_comes_as_such() {
    server.request("PUT", "/w/a/z", "Content-Type", "application/gzip").body(ZIPPED).send();
    server.put("/w/b", stub(ZIPPED, TEXT.length())).expect(412);
    put("/w/c/f", ZIPPED).expect(201);
    assertThat(rows(AttachmentKeys.CONTENTS)).isEqualTo(1);
    server.put("/w/b", stub(ZIPPED, TEXT.length())).expect(201);
    assertIsText("/w/b");
  }

  /** A damaged list of attachments says another length than the bytes have. */
  @ParameterizedTest
  @ValueSource(longs = {5, 200_001, 5_000_000})
  void an_answer_of_another_length_than_announced_ends_its_connection(long announced) {
    byte[] bytes = new byte[400_000];
    Arrays.fill(bytes, (byte) 'x');
    storeAs("a", Request.gzip(bytes), announced);
    String request = "GET /w/a/f HTTP/1.1\r\nHost: h\r\n\r\n";
    try (Connection connection = server.connect()) {
      connection.write(request + request);
      String all = connection.readToEnd();
      assertThat(all.chars().filter(c -> c == 'x').count())
          .isLessThanOrEqualTo(Math.min(bytes.length, announced));
      assertThat(all.toLowerCase(Locale.ROOT).split("http/1.1 200", -1)).hasSizeLessThan(3);
    }
    storeAs("b", Request.gzip(bytes), bytes.length);
    assertThat(server.get("/w/b/f").body()).hasSize(bytes.length);
    // The audit at the end would find the damage.
    server.delete("/w");
  }

  private void storeAs(String id, byte[] bytes, long length) {
    TestDatabase db = TestDatabase.open(store, "w");
    ContentUpload upload = new ContentStore(db.catalogue, db.transactions).begin(db.name);
    upload.write(bytes, 0, bytes.length);
    Content it = upload.finish(Optional.of(length));
    Attachment attachment =
        new Attachment("f", "text/plain", it.id(), it.md5(), length, it.length(), true, 1);
    db.write(
        TestDatabase.edit(id, null, "{}")
            .withAttachments(
                new AttachmentEdits(List.of(new EditedAttachment.Ready(attachment, true)))));
  }
}
