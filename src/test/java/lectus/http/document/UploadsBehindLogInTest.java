package lectus.http.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import lectus.account.Admins;
import lectus.attachment.Digests;
import lectus.attachment.Md5;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies whose bytes arrive before the server knows who sends them. */
final class UploadsBehindLogInTest {
  private static final int SLOW_HASH = 50_000;

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @AutoClose private LectusServer server;

  @BeforeEach
  void start() {
    Store store = stores.fresh();
    new Admins(store).put("root", Admins.hashOf("secret", 1));
    new Admins(store).put("ann", Admins.hashOf("apple", SLOW_HASH));
    server = LectusServer.start(store, new TestSettings());
    as("root:secret", "PUT", "/w").send().expect(201);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 90_001, 1_000_000})
  void all_bytes_are_stored(int length) {
    byte[] bytes = new byte[length];
    for (int at = 0; at < length; at++) {
      bytes[at] = (byte) (at % 251);
    }
    Answer put = as("ann:apple", "PUT", "/w/a/f").body(bytes).send();
    assertThat(put.status()).as(put.body()).isEqualTo(201);
    String digest = Md5.of(Digests.md5().digest(bytes)).digest();
    assertThat(as("root:secret", "GET", "/w/a").send().body())
        .contains("\"digest\":\"" + digest + "\",\"length\":" + length + ",");
  }

  /** Nobody has begun to read it when the parser finds that it is none. */
  @Test
  void a_chunked_body_that_is_none_is_400() {
    String basic = basic("ann:apple");
    try (Connection client = server.connect()) {
      client.write(
          "PUT /w/b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + ("Authorization: " + basic + "\r\nTransfer-Encoding: chunked\r\n\r\n")
              + "2\r\n{}\r\nx\r\n");
      client.read(false).expect(400);
    }
    as("root:secret", "GET", "/w/b").send().expect(404);
  }

  private Request as(String credentials, String method, String target) {
    return server.request(method, target, "Authorization", basic(credentials));
  }

  private static String basic(String credentials) {
    byte[] utf8 = credentials.getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(utf8);
  }
}
