package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeoutException;
import lectus.database.DatabaseName;
import lectus.database.testing.TestLayout;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.server.writing.WriteSettings;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Full queues, and listeners that come and go. */
@Timeout(60)
final class BareServerTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static String put(String target, String json) {
    return "PUT "
        + target
        + " HTTP/1.1\r\nHost: h\r\nContent-Length: "
        + json.length()
        + "\r\n\r\n"
        + json;
  }

  private static String bulk(int documents) {
    String json = "{\"docs\":[{}" + ",{}".repeat(documents - 1) + "]}";
    return "POST /w/_bulk_docs HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
        + "Content-Length: "
        + json.length()
        + "\r\n\r\n"
        + json;
  }

  @Test
  void a_full_queue_is_503_with_retry_after() throws TimeoutException {
    WriteSettings two = new WriteSettings(1, 2, 1 << 20, 64, 1 << 20);
    try (BareServer server = new BareServer(stores.fresh(), two);
        Connection connection = server.connect()) {
      server.layer().catalogue().create(DatabaseName.of("w"), TestLayout.OPTIONS);
      for (String id : new String[] {"a", "b"}) {
        connection.write(put("/w/" + id + "?batch=ok", "{}"));
        assertThat(connection.read(false).status()).isEqualTo(202);
      }

      Answer full = connection.write(put("/w/c", "{}")).read(false);
      assertThat(full.status()).isEqualTo(503);
      assertThat(full.header("retry-after")).isEqualTo("1");
      assertThat(full.body())
          .isEqualTo(
              "{\"error\":\"service_unavailable\",\"reason\":\"Too many writes are"
                  + " waiting.\"}\n");
      assertThat(connection.write(bulk(1)).read(false).status()).isEqualTo(503);
    }
  }

  @Test
  void a_listener_is_forgotten_when_its_client_goes() throws TimeoutException {
    WriteSettings bounds = new WriteSettings(1, 10, 1 << 20, 64, 1 << 20);
    try (BareServer server = new BareServer(stores.fresh(), bounds)) {
      server.layer().catalogue().create(DatabaseName.of("w"), TestLayout.OPTIONS);
      for (String feed : new String[] {"longpoll", "continuous"}) {
        try (Connection client = server.connect()) {
          client.write(
              "GET /w/_changes?heartbeat=10000&feed=" + feed + " HTTP/1.1\r\nHost: h\r\n\r\n");
          client.readHead();
          Await.until("it listens", () -> !server.listeners().isEmpty());
        }
        Await.until("nobody listens", () -> server.listeners().isEmpty());
      }
    }
  }
}
