package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue.JsonObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Credits of subscriptions: as many rows come as there are credits. */
@Timeout(60)
final class SocketCreditsTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  private Conversation client;

  @BeforeEach
  void connect() {
    server.put("/x");
    client = Conversation.with(server);
  }

  @AfterEach
  void leave() {
    client.close();
  }

  @Test
  void credits_bound_what_comes() {
    for (int i = 0; i < 10; i++) {
      server.write("/x/d" + i, "{}");
    }
    client.subscribe("a", "'db':'x','credits':3");
    client.row("a", "d0");
    client.row("a", "d1");
    client.row("a", "d2");
    client.nothingElseComes();

    client.credit("a", 2);
    client.row("a", "d3");
    client.row("a", "d4");
    client.nothingElseComes();
    client.credit("a", 100);
    for (int i = 5; i < 10; i++) {
      client.row("a", "d" + i);
    }
    client.caughtUp("a");
  }

  @Test
  void credits_bound_what_comes_live() {
    client.subscribe("a", "'db':'x','credits':2");
    client.caughtUp("a");
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      server.write("/x/d" + i, "{}");
    }
    while (ids.size() < 2) {
      JsonObject message = client.socket().message();
      message.get("row").ifPresent(row -> ids.add(SocketClient.text((JsonObject) row, "id")));
    }
    assertThat(ids).containsExactly("d0", "d1");
    client.credit("a", 3);
    while (ids.size() < 5) {
      JsonObject message = client.socket().message();
      message.get("row").ifPresent(row -> ids.add(SocketClient.text((JsonObject) row, "id")));
    }
    assertThat(ids).containsExactly("d0", "d1", "d2", "d3", "d4");
  }

  @Test
  void without_credits_nothing_comes() {
    server.write("/x/p", "{}");
    client.subscribe("a", "'db':'x','credits':0");
    client.nothingElseComes();
    client.credit("a", 1);
    client.row("a", "p");
    client.caughtUp("a");
  }

  /** Its rows are gone with it, so none of them stands before its end. */
  @Test
  void a_deleted_database_is_told_without_credits() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    client.subscribe("a", "'db':'x','credits':1");
    client.row("a", "p");
    server.delete("/x");
    client.socket().message("left", "at");
    client.end("a");
  }

  @Test
  void a_deleted_database_of_many_is_told_without_credits() {
    server.put("/y");
    server.put("/z");
    client.subscribe("a", "'db':'*','since':'now','credits':0");
    client.caughtUp("a");
    server.write("/x/p", "{}");
    server.delete("/y");
    client.nothingElseComes();
    server.delete("/x");
    assertThat(client.socket().message("left", "db")).isEqualTo("y");
    assertThat(client.socket().message("left", "db")).isEqualTo("x");
    server.write("/z/q", "{}");
    client.credit("a", 1);
    JsonObject message = client.socket().message();
    while (SocketClient.text(message, "type").equals("caught_up")) {
      message = client.socket().message();
    }
    assertThat(Conversation.docId(message)).isEqualTo("q");
  }

  /** Both join one tail, and read through the source of one of them. */
  @Test
  void two_clients_without_credits_are_both_told_after_they_had_caught_up() {
    for (String id : List.of("a", "b")) {
      client.subscribe(id, "'db':'x','credits':0");
      client.caughtUp(id);
      client.credit(id, 1);
    }
    server.write("/x/p", "{}");
    Set<String> told = new HashSet<>();
    while (told.size() < 2) {
      JsonObject message = client.socket().message();
      message.get("row").ifPresent(row -> told.add(SocketClient.text(message, "id")));
    }
    server.write("/x/q", "{}");
    server.delete("/x");
    while (told.size() < 4) {
      JsonObject message = client.socket().message();
      if (SocketClient.text(message, "type").equals("end")) {
        told.add("end of " + SocketClient.text(message, "id"));
      }
    }
  }

  @Test
  void that_a_database_is_deleted_does_not_count_against_a_limit() {
    server.put("/y");
    client.subscribe("a", "'db':'*','limit':1");
    client.caughtUp("a");
    server.delete("/y");
    assertThat(client.socket().message("left", "db")).isEqualTo("y");
    server.write("/x/p", "{}");
    JsonObject message = client.socket().message();
    while (SocketClient.text(message, "type").equals("caught_up")) {
      message = client.socket().message();
    }
    assertThat(Conversation.docId(message)).isEqualTo("p");
    client.end("a");
  }

  @Test
  void credits_add_up_to_a_billion() {
    client.subscribe("a", "'db':'x','credits':999999999");
    client.caughtUp("a");
    client.credit("a", 1);
    client.nothingElseComes();
    client.credit("a", 1);
    client.error("a", "too_many_credits", false);

    server.write("/x/p", "{}");
    client.row("a", "p");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1.5", "'1'", "null"})
  void credits_that_are_none(String n) {
    server.write("/x/p", "{}");
    client.subscribe("a", "'db':'x','credits':0");
    client.credit("a", n);
    client.error("a", "bad_request", false);
    client.nothingElseComes();
    client.credit("a", 1);
    client.row("a", "p");
  }

  @Test
  void a_subscription_begun_without_credits_takes_none() {
    client.subscribe("a", "'db':'x'");
    client.caughtUp("a");
    client.credit("a", 1);
    client.error("a", "bad_request", false);
    server.write("/x/p", "{}");
    client.row("a", "p");
  }

  @Test
  void a_heart_beats_without_credits_too() {
    server.write("/x/p", "{}");
    client.subscribe("a", "'db':'x','heartbeat':20,'credits':0");
    assertThat(client.socket().text())
        .isEqualTo("{\"type\":\"heartbeat\",\"id\":\"a\",\"at\":\"0\"}");
  }
}
