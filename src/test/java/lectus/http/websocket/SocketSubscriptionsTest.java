package lectus.http.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue.JsonObject;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Beginning and end of subscriptions, which do not affect each other. */
@Timeout(60)
final class SocketSubscriptionsTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final LectusServer server = LectusServer.start(stores.fresh());
  private Conversation client;

  @BeforeEach
  void connect() {
    server.put("/x");
    client = Conversation.with(server);
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void a_limit_ends_the_subscription() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    client.subscribe("a", "'db':'x','limit':1");
    String at = client.row("a", "p");
    assertThat(client.end("a")).isEqualTo(at);
    client.nothingElseComes();
  }

  @Test
  void unsubscribing_is_answered_with_where_to_go_on() {
    server.write("/x/p", "{}");
    client.subscribe("a", "'db':'x'");
    String at = client.row("a", "p");
    client.caughtUp("a");
    client.unsubscribe("a");
    assertThat(client.end("a")).isEqualTo(at);
    server.write("/x/q", "{}");
    client.nothingElseComes();

    client.subscribe("a", "'db':'x','since':'" + at + "'");
    client.row("a", "q");
  }

  /** No row follows the end, whatever the reading of a page is doing at that time. */
  @Test
  void unsubscribing_while_a_page_is_read() {
    for (int i = 0; i < 50; i++) {
      server.write("/x/d" + i, "{}");
    }
    for (int round = 0; round < 60; round++) {
      client.subscribe("a", "'db':'x'");
      for (int wait = 0; wait < round; wait++) {
        Thread.onSpinWait();
      }
      client.unsubscribe("a");
      String last = "0";
      JsonObject message = client.socket().message();
      while (!SocketClient.text(message, "type").equals("end")) {
        last = SocketClient.text(message, "at");
        message = client.socket().message();
      }
      assertThat(SocketClient.text(message, "at")).isEqualTo(last);
    }
    client.nothingElseComes();
  }

  /** Whatever comes before it. */
  private String endOf(String id) {
    JsonObject message = client.socket().message();
    while (!SocketClient.text(message, "type").equals("end")) {
      message = client.socket().message();
    }
    assertThat(SocketClient.text(message, "id")).isEqualTo(id);
    return SocketClient.text(message, "at");
  }

  /** What is written until the client resumes would be lost, if it were told "now". */
  @Test
  void a_subscription_from_now_that_ends_at_once_says_where_to_go_on() {
    server.write("/x/p", "{}");
    for (String databases : List.of("'x'", "['x']", "'*'")) {
      client.subscribe("a", "'db':" + databases + ",'since':'now'");
      client.unsubscribe("a");
      String at = endOf("a");
      assertThat(at).matches("[0-9a-f]{24,}");
      String id = "q" + at;
      server.write("/x/" + id, "{}");
      client.subscribe("a", "'db':" + databases + ",'since':'" + at + "'");
      client.row("a", id);
      client.unsubscribe("a");
      endOf("a");
    }
  }

  @Test
  void a_token_of_an_earlier_life_of_the_database_is_told_that_this_is_over() {
    server.write("/x/p", "{}");
    client.subscribe("a", "'db':'x','limit':1");
    client.row("a", "p");
    String at = client.end("a");
    server.delete("/x");
    server.put("/x");
    server.write("/x/q", "{}");

    client.subscribe("a", "'db':'x','since':'" + at + "'");
    assertThat(client.socket().message("left", "at")).isEqualTo("0");
    client.row("a", "q");
    assertThat(server.get("/x/_changes?since=" + at).body())
        .isEqualTo(server.get("/x/_changes").body());
    client.unsubscribe("a");
    endOf("a");

    // Also if it ends before it has begun.
    client.subscribe("a", "'db':'x','since':'" + at + "'");
    client.unsubscribe("a");
    assertThat(client.socket().message("left", "at")).isEqualTo("0");
    endOf("a");
  }

  @Test
  void an_id_that_nobody_has() {
    client.credit("b", 1);
    client.error("b", "not_found", true);
    client.unsubscribe("b");
    client.error("b", "not_found", true);
  }

  @Test
  void an_id_that_somebody_has_already() {
    server.put("/y");
    server.write("/y/q", "{}");
    client.subscribe("a", "'db':'x'");
    client.caughtUp("a");
    client.subscribe("a", "'db':'y'");
    client.error("a", "duplicate_id", false);

    server.write("/x/p", "{}");
    client.row("a", "p");
  }

  @Test
  void an_error_of_one_subscription_leaves_the_others_alone() {
    client.subscribe("a", "'db':'x'");
    client.caughtUp("a");
    client.subscribe("b", "'db':'none'");
    client.error("b", "not_found", true);
    client.subscribe("b", "'db':'No'");
    client.error("b", "illegal_database_name", true);
    client.subscribe("b", "'db':['x','No']");
    client.error("b", "illegal_database_name", true);
    client.subscribe("b", "'db':'x','since':'junk'");
    client.error("b", "bad_request", true);

    server.write("/x/p", "{}");
    client.row("a", "p");
    client.caughtUp("a");
    client.subscribe("b", "'db':'x'");
    client.row("b", "p");
  }

  @Test
  void a_deleted_database_is_left() {
    server.put("/y");
    server.write("/x/p", "{}");
    client.subscribe("a", "'db':'x'");
    String at = client.row("a", "p");
    client.caughtUp("a");
    client.subscribe("b", "'db':'y'");
    client.caughtUp("b");

    server.delete("/x");
    server.put("/x");
    server.write("/x/other", "{}");
    assertThat(client.socket().text())
        .isEqualTo("{\"type\":\"left\",\"id\":\"a\",\"db\":\"x\",\"at\":\"" + at + "\"}");
    assertThat(client.end("a")).isEqualTo(at);
    server.write("/y/q", "{}");
    client.row("b", "q");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {"nothing", "[]", "{}", "{'type':'subscribe'}", "{'type':'row'}", "17", "{'type':"})
  void a_malformed_message_is_answered(String message) {
    client.say(message);
    client.error("bad_request");
    client.subscribe("a", "'db':'x'");
    client.caughtUp("a");
  }

  @Test
  void a_stop_ends_each_subscription_and_sends_the_client_away() {
    LectusServer stopping = LectusServer.start(stores.fresh());
    stopping.put("/x");
    stopping.write("/x/p", "{}");
    try (Conversation away = Conversation.with(stopping)) {
      away.subscribe("a", "'db':'x'");
      String at = away.row("a", "p");
      away.caughtUp("a");
      away.subscribe("b", "'db':'x','credits':0");
      away.nothingElseComes();

      stopping.close();
      List<String> ends = List.of(away.socket().text(), away.socket().text());
      assertThat(ends)
          .containsExactlyInAnyOrder(
              "{\"type\":\"end\",\"id\":\"a\",\"at\":\"" + at + "\"}",
              "{\"type\":\"end\",\"id\":\"b\",\"at\":\"0\"}");
      assertThat(away.socket().closeCode()).isEqualTo(1001);
    }
  }
}
