package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import lectus.account.Admins;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.AttachmentSettings;
import lectus.attachment.Compression;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.attachment.SweptStore;
import lectus.audit.testing.SoundStore;
import lectus.document.edit.DocumentLimits;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attachments that come in pieces over HTTP. The bytes are ASCII. */
class ResumableAttachmentsTest {
  private static final int TOTAL = 1_000_000;
  private static final String BYTES = "0123456789abcdef+".repeat(60_000).substring(0, TOTAL);
  private static final String PATH = "/w/a/f";
  private static final String UPLOAD = PATH + "?upload=u1";

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final Store store = stores.fresh();
  private LectusServer server;
  private String user = "root:secret";

  @BeforeEach
  void start() {
    new Admins(store).put("root", Admins.hashOf("secret", 10));
    new Admins(store).put("other", Admins.hashOf("secret", 10));
    server = LectusServer.start(store, settings());
    ask(server, "PUT", "/w", "");
  }

  private static TestSettings settings() {
    return new TestSettings()
        .documents(
            new DocumentLimits(
                DocumentLimits.DEFAULT.idBytes(),
                DocumentLimits.DEFAULT.json(),
                new AttachmentSettings(
                    TOTAL, Compression.of(8, AttachmentSettings.COMPRESSED_TYPES))));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String authorization() {
    byte[] pair = user.getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(pair);
  }

  private Answer ask(LectusServer at, String method, String target, String body, String... more) {
    StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: h\r\n");
    head.append("Authorization: ").append(authorization()).append("\r\n");
    for (String header : more) {
      head.append(header).append("\r\n");
    }
    try (Connection connection = at.connect()) {
      connection.write(head + "Content-Length: " + body.length() + "\r\n\r\n" + body);
      return connection.read(method.equals("HEAD"));
    }
  }

  private Answer send(LectusServer at, String target, int from, int to, String... more) {
    String[] headers = new String[more.length + 1];
    System.arraycopy(more, 0, headers, 1, more.length);
    headers[0] = "Content-Range: bytes " + from + "-" + (to - 1) + "/" + TOTAL;
    return ask(at, "PUT", target, BYTES.substring(from, to), headers);
  }

  private Answer send(int from, int to) {
    return send(server, UPLOAD, from, to);
  }

  private int rows(AttachmentKeys part) {
    return TestDatabase.open(store, "w")
        .read(
            (tx, handle) ->
                Awaiting.await(tx.getRange(part.range(handle.prefix())).asList()).size());
  }

  private void assertStored(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    String got = ask(server, "GET", PATH, "").body();
    assertThat(got.equals(BYTES)).as(() -> got.substring(0, Math.min(99, got.length()))).isTrue();
    assertThat(rows(AttachmentKeys.RESUMABLES)).isZero();
    assertThat(rows(AttachmentKeys.UPLOADS)).isZero();
  }

  @Test
  void pieces_make_an_attachment() {
    Answer first = send(0, 300_000);
    assertThat(first.status()).as(first.body()).isEqualTo(202);
    assertThat(first.header("range")).isEqualTo("bytes=0-299999");
    assertThat(first.body().strip())
        .isEqualTo("{\"ok\":true,\"received\":300000,\"total\":1000000}");
    assertThat(ask(server, "GET", "/w/a", "").status()).isEqualTo(404);
    assertThat(send(300_000, 900_000).status()).isEqualTo(202);

    Answer last = send(server, UPLOAD, 900_000, TOTAL, "Content-Type: text/plain");
    assertThat(last.header("location")).endsWith(PATH);
    assertStored(last);
    assertThat(ask(server, "HEAD", PATH, "").header("content-type")).isEqualTo("text/plain");
    assertThat(ask(server, "GET", UPLOAD, "").status()).isEqualTo(404);
  }

  @Test
  void any_server_goes_on_with_an_upload_also_after_a_restart() {
    try (LectusServer second = LectusServer.start(store, settings())) {
      assertThat(send(0, 100_000).status()).isEqualTo(202);
      assertThat(send(second, UPLOAD, 100_000, 200_000).status()).isEqualTo(202);
      server.close();
      server = LectusServer.start(store, settings());
      assertThat(received()).isEqualTo(200_000);
      assertStored(send(200_000, TOTAL));
    }
  }

  @Test
  void what_came_before_a_connection_broke_counts() {
    try (Connection connection = server.connect()) {
      connection.write(
          "PUT "
              + UPLOAD
              + " HTTP/1.1\r\nHost: h\r\nAuthorization: "
              + authorization()
              + "\r\nContent-Range: bytes 0-999999/1000000\r\nContent-Length: 1000000\r\n\r\n");
      connection.write(BYTES.substring(0, 950_000));
      Await.until("some of it is stored", () -> rows(AttachmentKeys.CHUNKS) > 0);
    }
    Await.until("all of it counts", () -> received() == 950_000);
    assertStored(send(950_000, TOTAL));
  }

  private int received() {
    String body = ask(server, "GET", UPLOAD, "").body();
    return Integer.parseInt(body.replaceAll("(?s).*\"received\":(\\d+).*", "$1"));
  }

  @Test
  void a_piece_at_another_offset_is_told_what_has_come() {
    assertThat(send(1, 9).status()).isEqualTo(416);
    assertThat(send(0, 9).status()).isEqualTo(202);
    for (int from : new int[] {0, 8, 10}) {
      Answer refused = send(from, 20);
      assertThat(refused.status()).isEqualTo(416);
      assertThat(refused.header("range")).isEqualTo("bytes=0-8");
      assertThat(refused.member("error")).isEqualTo("wrong_offset");
    }
    assertThat(ask(server, "HEAD", UPLOAD, "").header("range")).isEqualTo("bytes=0-8");
  }

  @Test
  void a_conflict_at_the_end_changes_nothing_and_the_bytes_need_not_come_again() {
    assertThat(send(0, TOTAL - 1).status()).isEqualTo(202);
    String rev = ask(server, "PUT", "/w/a", "{}").member("rev");
    assertThat(send(TOTAL - 1, TOTAL).status()).isEqualTo(409);
    assertThat(ask(server, "GET", PATH, "").status()).isEqualTo(404);

    String current = UPLOAD + "&rev=" + rev;
    assertThat(
            send(server, current, TOTAL - 1, TOTAL, "Content-MD5: AAAAAAAAAAAAAAAAAAAAAA==")
                .status())
        .as("another MD5")
        .isEqualTo(400);
    String all = "Content-Range: bytes */" + TOTAL;
    assertStored(ask(server, "PUT", current, "", all, "Content-MD5: " + md5()));
    assertThat(ask(server, "PUT", current, "", all).status()).as("conflict").isEqualTo(409);
  }

  private static String md5() {
    return Md5.of(Digests.md5().digest(BYTES.getBytes(StandardCharsets.US_ASCII))).base64();
  }

  @Test
  void an_upload_is_given_up() {
    assertThat(ask(server, "DELETE", UPLOAD, "").status()).isEqualTo(404);
    send(0, 500_000);
    assertThat(ask(server, "DELETE", UPLOAD, "").status()).isEqualTo(200);
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
    assertThat(rows(AttachmentKeys.RESUMABLES)).isZero();
  }

  @Test
  void nobody_sees_or_goes_on_with_the_upload_of_another_user_or_attachment() {
    send(0, 9);
    assertThat(ask(server, "GET", "/w/a/g?upload=u1", "").status()).isEqualTo(404);
    assertThat(send(server, "/w/a/g?upload=u1", 9, 20).status()).isEqualTo(409);
    user = "other:secret";
    assertThat(ask(server, "GET", UPLOAD, "").status()).isEqualTo(404);
    assertThat(ask(server, "DELETE", UPLOAD, "").status()).isEqualTo(404);
    assertThat(send(9, 20).status()).isEqualTo(416);
    user = "root:secret";
    assertThat(received()).isEqualTo(9);
  }

  @Test
  void who_loses_the_right_between_pieces_is_refused_and_leaves_nothing_for_ever() {
    assertThat(ask(server, "PUT", "/w/_security", members("other")).status()).isEqualTo(200);
    ask(server, "PUT", "/_users", "");
    String ann = "{\"name\":\"ann\",\"password\":\"apple\",\"roles\":[],\"type\":\"user\"}";
    assertThat(ask(server, "PUT", "/_users/org.couchdb.user:ann", ann).status()).isEqualTo(201);
    user = "ann:apple";
    assertThat(send(0, 9).status()).isEqualTo(403);
    user = "root:secret";
    assertThat(ask(server, "PUT", "/w/_security", members("ann")).status()).isEqualTo(200);
    user = "ann:apple";
    assertThat(send(0, 500_000).status()).isEqualTo(202);

    user = "root:secret";
    assertThat(ask(server, "PUT", "/w/_security", members("other")).status()).isEqualTo(200);
    user = "ann:apple";
    assertThat(send(500_000, TOTAL).status()).isEqualTo(403);
    assertThat(ask(server, "GET", UPLOAD, "").status()).isEqualTo(403);
    assertThat(ask(server, "DELETE", UPLOAD, "").status()).isEqualTo(403);
    assertThat(rows(AttachmentKeys.CHUNKS)).isPositive();
    SweptStore.assertClean(store, "w");
    assertThat(rows(AttachmentKeys.CHUNKS)).isZero();
  }

  private static String members(String name) {
    return "{\"members\":{\"names\":[\"" + name + "\"],\"roles\":[]}}";
  }

  @Test
  void an_attachment_is_too_long_from_its_first_piece_on() {
    String tooLong = "Content-Range: bytes 0-0/" + (TOTAL + 1);
    assertThat(ask(server, "PUT", UPLOAD, "x", tooLong).status()).isEqualTo(413);
    assertThat(send(0, 1).status()).isEqualTo(202);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X: y",
        "Content-Range: bytes 0-1/5",
        "Content-Range: bytes 0-2/2",
        "Content-Range: bytes 2-0/5",
        "Content-Range: bytes 0-2/*",
        "Content-Range: bytes */0",
        "Content-Range: bytes 0-2/9999999999999999999",
        "Content-Range: items 0-2/5"
      })
  void what_is_no_piece_is_refused(String header) {
    assertThat(ask(server, "PUT", UPLOAD, "abc", header).status()).isEqualTo(400);
    assertThat(ask(server, "PUT", PATH + "?upload=a%20b", "", header).status()).isEqualTo(400);
    assertThat(rows(AttachmentKeys.RESUMABLES)).isZero();
  }
}
