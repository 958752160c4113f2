package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue.JsonObject;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Subscriptions to many databases in one order. */
final class ManyDatabasesSocketTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @AutoClose private Conversation client;

  /** The position of the subscription that was read last. */
  private String at;

  @BeforeEach
  void connect() {
    for (String name : List.of("user-ann", "user-bob", "other")) {
      server.put("/" + name);
    }
    client = Conversation.with(server);
  }

  /**
   * Returns what arrives for a subscription until it has caught up, one word each: {@code db/doc},
   * {@code left:db}.
   *
   * @param count the least number of such words
   */
  private List<String> caughtUpWith(String id, int count) {
    List<String> words = new ArrayList<>();
    while (true) {
      JsonObject message = client.socket().message();
      if (!id.equals(SocketClient.text(message, "id"))) {
        continue;
      }
      at = SocketClient.text(message, "at");
      assertThat(at).matches("0|[0-9a-f]{24}");
      String db = SocketClient.text(message, "db");
      switch (SocketClient.text(message, "type")) {
        case "row" -> {
          JsonObject row = (JsonObject) message.get("row").orElseThrow();
          words.add(db + "/" + SocketClient.text(row, "id"));
        }
        case "left" -> words.add("left:" + db);
        case "caught_up" -> {
          if (words.size() >= count) {
            return words;
          }
        }
        default -> throw new AssertionError(message.toString());
      }
    }
  }

  /** Returns the position of the last row of the store's updates log. */
  private String newest() {
    String body = server.get("/_db_updates?descending=true&limit=1").body();
    return body.replaceAll("(?s).*\"seq\":\"([^\"]*)\".*", "$1");
  }

  @Test
  void the_position_of_a_subscription_moves_on_while_only_others_are_written() {
    client.subscribe("a", "'db':'user-*','heartbeat':1000");
    client.caughtUp("a");
    server.write("/other/1", "{}");
    String newest = newest();
    String sleeping = "";
    while (sleeping.compareTo(newest) < 0) {
      JsonObject message = client.socket().message();
      assertThat(SocketClient.text(message, "type")).isEqualTo("heartbeat");
      sleeping = SocketClient.text(message, "at");
    }
    server.write("/user-ann/2", "{}");
    assertThat(client.row("a", "2")).isGreaterThan(sleeping);
    client.caughtUp("a");
    server.write("/other/3", "{}");
    client.unsubscribe("a");
    String end = client.end("a");
    server.write("/user-ann/4", "{}");
    client.subscribe("a", "'db':'user-*','since':'" + end + "'");
    client.row("a", "4");
  }

  @Test
  void a_subscription_that_ends_again_and_again_is_told_every_row_once() throws Exception {
    List<String> written = IntStream.range(0, 75).mapToObj(i -> "d" + 4 * i).toList();
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < 4 * written.size(); i++) {
                server.write((i % 4 == 0 ? "/user-bob/d" : "/other/d") + i, "{}");
              }
            });
    writer.start();
    List<String> told = new ArrayList<>();
    at = "0";
    while (told.size() < written.size()) {
      String since = at;
      client.subscribe("a", "'db':'user-*','since':'" + since + "'");
      boolean caughtUp = false;
      for (String type = ""; !type.equals("end"); ) {
        JsonObject message = client.socket().message();
        type = SocketClient.text(message, "type");
        String next = SocketClient.text(message, "at");
        assertThat(at.equals("0") || next.compareTo(at) >= 0).isTrue();
        at = next;
        if (type.equals("row")) {
          told.add(Conversation.docId(message));
        } else if (type.equals("caught_up") && !caughtUp) {
          caughtUp = true;
          client.unsubscribe("a");
        }
      }
    }
    writer.join();
    assertThat(told).isEqualTo(written);
  }

  @Test
  void rows_come_in_the_order_of_the_commits() {
    server.write("/user-bob/1", "{}");
    server.write("/user-ann/2", "{}");
    server.write("/other/3", "{}");
    server.write("/user-bob/4", "{}");
    server.write("/user-ann/5", "{}");

    client.subscribe("a", "'db':'user-*'");
    assertThat(caughtUpWith("a", 4))
        .containsExactly("user-bob/1", "user-ann/2", "user-bob/4", "user-ann/5");
    client.subscribe("b", "'db':['other','user-a*']");
    assertThat(caughtUpWith("b", 3)).containsExactly("user-ann/2", "other/3", "user-ann/5");
  }

  @Test
  void what_is_written_later_comes_by_itself() {
    client.subscribe("a", "'db':'user-*','since':'now'");
    assertThat(caughtUpWith("a", 0)).isEmpty();
    server.write("/other/1", "{}");
    server.write("/user-ann/2", "{}");
    server.write("/user-bob/3", "{}");
    assertThat(caughtUpWith("a", 2)).containsExactly("user-ann/2", "user-bob/3");
  }

  @Test
  void rows_show_what_the_options_say() {
    server.write("/user-ann/1", "{\"v\":7}");
    client.subscribe("a", "'db':'*','include_docs':true");
    String shown = server.get("/user-ann/_changes?include_docs=true").body();
    String row = client.socket().text();
    assertThat(row)
        .startsWith("{\"type\":\"row\",\"id\":\"a\",\"db\":\"user-ann\",\"at\":\"")
        .endsWith("\"row\":" + shown.lines().skip(1).findFirst().orElseThrow() + "}");
  }

  @Test
  void a_selector_lets_some_rows_of_each_database_through() {
    server.write("/user-ann/1", "{\"v\":1}");
    server.write("/user-bob/2", "{\"v\":2}");
    server.write("/user-ann/3", "{\"v\":2}");
    server.write("/user-bob/4", "{\"v\":1}");
    client.subscribe("a", "'db':'user-*','selector':{'v':2}");
    assertThat(caughtUpWith("a", 2)).containsExactly("user-bob/2", "user-ann/3");
    server.write("/user-ann/5", "{\"v\":1}");
    server.write("/user-bob/6", "{\"v\":2}");
    assertThat(caughtUpWith("a", 1)).containsExactly("user-bob/6");
  }

  @Test
  void at_is_where_another_subscription_goes_on_even_to_other_databases() {
    server.write("/user-ann/1", "{}");
    client.subscribe("a", "'db':'user-*'");
    caughtUpWith("a", 1);
    String after1 = at;
    server.write("/user-bob/2", "{}");
    server.write("/other/3", "{}");

    client.subscribe("b", "'db':'user-*','since':'" + after1 + "'");
    assertThat(caughtUpWith("b", 1)).containsExactly("user-bob/2");
    client.subscribe("c", "'db':['user-ann','other'],'since':'" + after1 + "'");
    assertThat(caughtUpWith("c", 1)).containsExactly("other/3");
  }

  @Test
  void databases_that_appear_join_and_deleted_ones_leave() {
    server.write("/user-ann/1", "{}");
    client.subscribe("a", "'db':['user-*','later']");
    assertThat(caughtUpWith("a", 1)).containsExactly("user-ann/1");

    server.put("/later");
    server.write("/later/2", "{}");
    server.put("/user-eve");
    server.write("/user-eve/3", "{}");
    assertThat(caughtUpWith("a", 2)).containsExactly("later/2", "user-eve/3");

    server.delete("/user-ann");
    server.write("/user-bob/4", "{}");
    assertThat(caughtUpWith("a", 2)).containsExactly("left:user-ann", "user-bob/4");

    server.put("/user-ann");
    server.write("/user-ann/5", "{}");
    assertThat(caughtUpWith("a", 1)).containsExactly("user-ann/5");
  }

  @Test
  void a_database_that_is_left_takes_no_credit() {
    client.subscribe("a", "'db':'user-*','credits':1");
    caughtUpWith("a", 0);
    server.delete("/user-ann");
    assertThat(caughtUpWith("a", 1)).containsExactly("left:user-ann");
    server.write("/user-bob/1", "{}");
    JsonObject message = client.socket().message();
    assertThat(SocketClient.text(message, "type")).isEqualTo("row");
    server.write("/user-bob/2", "{}");
    client.socket().send("{\"type\":\"unsubscribe\",\"id\":\"a\"}");
    message = client.socket().message();
    while (SocketClient.text(message, "type").equals("caught_up")) {
      message = client.socket().message();
    }
    assertThat(SocketClient.text(message, "type")).isEqualTo("end");
    client.subscribe("b", "'db':'user-*','since':'" + SocketClient.text(message, "at") + "'");
    assertThat(caughtUpWith("b", 1)).containsExactly("user-bob/2");
  }

  @Test
  void none_of_them_needs_to_exist() {
    client.subscribe("a", "'db':['absent','none-*']");
    assertThat(caughtUpWith("a", 0)).isEmpty();
    server.put("/absent");
    server.write("/absent/1", "{}");
    assertThat(caughtUpWith("a", 1)).containsExactly("absent/1");
  }
}
