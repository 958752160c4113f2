package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonValue.JsonObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The messages of {@code lectus.changes.v1} about single databases: rows and their positions. */
@Timeout(60)
final class ChangesSocketTest {
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

  private String sequence() {
    return server.get("/x").member("update_seq");
  }

  @Test
  void the_subprotocol_is_chosen() {
    assertThat(client.socket().protocol()).isEqualTo("lectus.changes.v1");
  }

  @Test
  void rows_come_in_order_and_then_word_that_these_were_all() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    client.subscribe("a", "'db':'x'");

    String changes = server.get("/x/_changes").body();
    String row = client.socket().text();
    String seq = sequenceOf(row);
    String shown = changes.lines().skip(1).findFirst().orElseThrow();
    assertThat(row)
        .isEqualTo(
            "{\"type\":\"row\",\"id\":\"a\",\"db\":\"x\",\"at\":\""
                + seq
                + "\",\"row\":"
                + shown.substring(0, shown.length() - 1)
                + "}");
    String last = client.row("a", "q");
    assertThat(last).isEqualTo(sequence());
    assertThat(client.socket().text())
        .isEqualTo("{\"type\":\"caught_up\",\"id\":\"a\",\"at\":\"" + last + "\"}");
  }

  private static String sequenceOf(String row) {
    String start = "\"row\":{\"seq\":\"";
    int from = row.indexOf(start) + start.length();
    return row.substring(from, row.indexOf('"', from));
  }

  @Test
  void an_empty_database_is_caught_up_at_0() {
    client.subscribe("a", "'db':'x'");
    assertThat(client.caughtUp("a")).isEqualTo("0");
  }

  @Test
  void what_is_written_later_comes_by_itself() {
    client.subscribe("a", "'db':'x','since':'now'");
    client.caughtUp("a");
    for (int i = 0; i < 10; i++) {
      server.write("/x/d" + i, "{}");
    }
    for (int i = 0; i < 10; i++) {
      isRowOrCaughtUp("d" + i);
    }
    assertThat(lastCaughtUp()).isEqualTo(sequence());
  }

  /** {@code caught_up} may come between rows. */
  private void isRowOrCaughtUp(String docId) {
    JsonObject message = client.socket().message();
    if (SocketClient.text(message, "type").equals("caught_up")) {
      client.row("a", docId);
    } else {
      assertThat(Conversation.docId(message)).isEqualTo(docId);
    }
  }

  private String lastCaughtUp() {
    String at = client.caughtUp("a");
    return at.equals(sequence()) ? at : client.caughtUp("a");
  }

  @Test
  void at_is_where_another_subscription_goes_on() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    server.write("/x/r", "{}");
    client.subscribe("a", "'db':'x'");
    String at = client.row("a", "p");
    client.row("a", "q");
    client.row("a", "r");
    String end = client.caughtUp("a");

    client.subscribe("b", "'db':'x','since':'" + at + "'");
    client.row("b", "q");
    client.row("b", "r");
    client.caughtUp("b");
    client.subscribe("c", "'db':'x','since':'" + end + "'");
    assertThat(client.caughtUp("c")).isEqualTo(end);
  }

  @Test
  void rows_show_what_the_options_say() {
    server.write("/x/p", "{\"v\":1}");
    server.put("/x/p?new_edits=false", "{\"_rev\":\"1-x\",\"w\":2}");
    server.write("/x/q", "{}");
    client.subscribe(
        "a", "'db':'x','include_docs':true,'conflicts':true,'style':'all_docs','doc_ids':['p']");

    String shown =
        server
            .request(
                "POST",
                "/x/_changes?include_docs=true&conflicts=true&style=all_docs&filter=_doc_ids")
            .json("{\"doc_ids\":[\"p\"]}")
            .send()
            .body();
    assertThat(client.socket().text())
        .endsWith("\"row\":" + shown.lines().skip(1).findFirst().get() + "}");
    assertThat(client.caughtUp("a")).isEqualTo(sequence());
  }

  @Test
  void a_selector_lets_some_rows_through_and_fields_narrow_their_documents() {
    server.write("/x/p", "{\"v\":1,\"w\":2}");
    server.write("/x/q", "{\"v\":9,\"w\":3}");
    client.subscribe("a", "'db':'x','include_docs':true,'selector':{'v':{'$gt':5}},'fields':['w']");

    assertThat(client.socket().text()).contains("\"id\":\"q\"").endsWith("\"doc\":{\"w\":3}}}");
    assertThat(client.caughtUp("a")).isEqualTo(sequence());
    server.write("/x/r", "{\"v\":1}");
    server.write("/x/s", "{\"v\":6}");
    assertThat(nextRow()).contains("\"id\":\"s\"").endsWith("\"doc\":{}}}");
  }

  private String nextRow() {
    String message = client.socket().text();
    while (!message.startsWith("{\"type\":\"row\"")) {
      message = client.socket().text();
    }
    return message;
  }

  @Test
  void subscriptions_of_several_databases_share_the_socket() {
    server.put("/y");
    client.subscribe("a", "'db':'x'");
    client.caughtUp("a");
    client.subscribe("b", "'db':'y'");
    client.caughtUp("b");
    server.write("/y/q", "{}");
    client.row("b", "q");
    client.caughtUp("b");
    server.write("/x/p", "{}");
    client.row("a", "p");
  }

  @Test
  void a_heartbeat_says_where_the_subscription_stands() {
    server.write("/x/p", "{}");
    String at = sequence();
    client.subscribe("a", "'db':'x','since':'now','heartbeat':20");
    assertThat(client.caughtUp("a")).isEqualTo(at);
    for (int beats = 0; beats < 3; beats++) {
      assertThat(client.socket().text())
          .isEqualTo("{\"type\":\"heartbeat\",\"id\":\"a\",\"at\":\"" + at + "\"}");
    }
  }

  @Test
  void ids_and_names_are_escaped_in_messages() {
    server.write("/x/%22%3Cb%3E", "{}");
    client.say("{'type':'subscribe','id':'\\'\\u0000\\u2028','db':'x'}".replace("\\'", "\\\""));
    JsonObject message = client.socket().message();
    assertThat(SocketClient.text(message, "id")).isEqualTo("\"\0\u2028");
    assertThat(Conversation.docId(message)).isEqualTo("\"<b>");
  }
}
