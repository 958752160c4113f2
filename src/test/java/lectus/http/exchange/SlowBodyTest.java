package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.exchange.BodyDeadlines.Pace;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bodies that do not arrive. */
@Timeout(60)
final class SlowBodyTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final LectusServer server =
      LectusServer.start(stores.fresh(), new TestSettings().slowBodySeconds(1));

  @BeforeEach
  void create() {
    server.put("/w");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Connection begin(String id, int length) {
    return server.request("PUT", "/w/" + id).header("Content-Length", "" + length).open();
  }

  @Test
  void a_body_that_stops_coming_is_408_and_its_connection_ends() {
    try (Connection client = begin("a", 100)) {
      Answer answer = client.write("{\"v\":").read(false);

      assertThat(answer.status()).isEqualTo(408);
      assertThat(answer.header("connection")).isEqualTo("close");
      assertThat(answer.body())
          .isEqualTo(
              "{\"error\":\"request_timeout\","
                  + "\"reason\":\"The request's body arrives too slowly.\"}\n");
      assertThat(client.isAtEnd()).isTrue();
    }
    assertThat(server.get("/w/a").status()).isEqualTo(404);
  }

  /** It has sent enough for an hour before it pauses for longer than the grace period. */
  @Test
  void one_that_has_come_fast_enough_may_rest() {
    String begun = "{\"v\":\"" + "x".repeat(3_600 * Pace.MIN_RATE);
    try (Connection client = begin("b", begun.length() + 2);
        Connection silent = begin("a", 100)) {
      client.write(begun);
      assertThat(silent.read(false).status()).isEqualTo(408);

      assertThat(client.write("\"}").read(false).status()).isEqualTo(201);
    }
  }
}
