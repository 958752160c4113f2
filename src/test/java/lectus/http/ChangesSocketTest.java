package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue.JsonObject;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The conversation in {@code lectus.changes.v1} about single databases. */
@Timeout(60)
final class ChangesSocketTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final LectusServer server = LectusServer.start(stores.fresh());
  private SocketClient socket;

  @BeforeEach
  void connect() {
    server.put("/x");
    socket = SocketClient.connect(server, "/_changes", "lectus.changes.v1");
  }

  @AfterEach
  void stop() {
    socket.close();
    server.close();
  }

  /** Quotes are written as apostrophes. */
  private void say(String json) {
    socket.send(json.replace('\'', '"'));
  }

  private void subscribe(String id, String members) {
    say("{'type':'subscribe','id':'" + id + "'," + members + "}");
  }

  private static String text(JsonObject message) {
    JsonBuffer json = new JsonBuffer(256);
    message.writeTo(json);
    return json.toString();
  }

  private void isError(String id, String error, boolean ended) {
    JsonObject message = socket.message();
    assertThat(SocketClient.text(message, "type")).isEqualTo("error");
    assertThat(SocketClient.text(message, "id")).isEqualTo(id);
    assertThat(SocketClient.text(message, "error")).as(text(message)).isEqualTo(error);
    assertThat(SocketClient.text(message, "reason")).isNotBlank();
    if (id != null) {
      assertThat(text(message)).contains("\"ended\":" + ended);
    }
  }

  private String isRow(String subscription, String docId) {
    JsonObject message = socket.message();
    assertThat(SocketClient.text(message, "type")).as(text(message)).isEqualTo("row");
    assertThat(SocketClient.text(message, "id")).isEqualTo(subscription);
    JsonObject row = (JsonObject) message.get("row").orElseThrow();
    assertThat(SocketClient.text(row, "id")).isEqualTo(docId);
    return SocketClient.text(message, "at");
  }

  private String isCaughtUp(String id) {
    JsonObject message = socket.message();
    assertThat(SocketClient.text(message, "type")).as(text(message)).isEqualTo("caught_up");
    assertThat(SocketClient.text(message, "id")).isEqualTo(id);
    return SocketClient.text(message, "at");
  }

  private String isEnd(String id) {
    JsonObject message = socket.message();
    assertThat(SocketClient.text(message, "type")).as(text(message)).isEqualTo("end");
    assertThat(SocketClient.text(message, "id")).isEqualTo(id);
    return SocketClient.text(message, "at");
  }

  /** Whatever was to come before has come when this answer comes. */
  private void nothingElseComes() {
    say("{'type':'unsubscribe','id':'nobody'}");
    isError("nobody", "not_found", true);
  }

  private String sequence() {
    return server.get("/x").member("update_seq");
  }

  @Test
  void the_subprotocol_is_chosen() {
    assertThat(socket.protocol()).isEqualTo("lectus.changes.v1");
  }

  @Test
  void rows_come_in_order_and_then_word_that_these_were_all() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    subscribe("a", "'db':'x'");

    String changes = server.get("/x/_changes").body();
    String row = socket.text();
    String seq = sequenceOf(row);
    String shown = changes.lines().skip(1).findFirst().orElseThrow();
    assertThat(row)
        .isEqualTo(
            "{\"type\":\"row\",\"id\":\"a\",\"db\":\"x\",\"at\":\""
                + seq
                + "\",\"row\":"
                + shown.substring(0, shown.length() - 1)
                + "}");
    String last = isRow("a", "q");
    assertThat(last).isEqualTo(sequence());
    assertThat(socket.text())
        .isEqualTo("{\"type\":\"caught_up\",\"id\":\"a\",\"at\":\"" + last + "\"}");
  }

  private static String sequenceOf(String row) {
    String start = "\"row\":{\"seq\":\"";
    int from = row.indexOf(start) + start.length();
    return row.substring(from, row.indexOf('"', from));
  }

  @Test
  void an_empty_database_is_caught_up_at_0() {
    subscribe("a", "'db':'x'");
    assertThat(isCaughtUp("a")).isEqualTo("0");
  }

  @Test
  void what_is_written_later_comes_by_itself() {
    subscribe("a", "'db':'x','since':'now'");
    isCaughtUp("a");
    for (int i = 0; i < 10; i++) {
      server.write("/x/d" + i, "{}");
    }
    for (int i = 0; i < 10; i++) {
      isRowOrCaughtUp("d" + i);
    }
    assertThat(lastCaughtUp()).isEqualTo(sequence());
  }

  /** Word of having caught up may come between rows. */
  private void isRowOrCaughtUp(String docId) {
    JsonObject message = socket.message();
    if (SocketClient.text(message, "type").equals("caught_up")) {
      isRow("a", docId);
    } else {
      assertThat(SocketClient.text((JsonObject) message.get("row").orElseThrow(), "id"))
          .isEqualTo(docId);
    }
  }

  private String lastCaughtUp() {
    String at = isCaughtUp("a");
    return at.equals(sequence()) ? at : isCaughtUp("a");
  }

  @Test
  void at_is_where_another_subscription_goes_on() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    server.write("/x/r", "{}");
    subscribe("a", "'db':'x'");
    String at = isRow("a", "p");
    isRow("a", "q");
    isRow("a", "r");
    String end = isCaughtUp("a");

    subscribe("b", "'db':'x','since':'" + at + "'");
    isRow("b", "q");
    isRow("b", "r");
    isCaughtUp("b");
    subscribe("c", "'db':'x','since':'" + end + "'");
    assertThat(isCaughtUp("c")).isEqualTo(end);
  }

  @Test
  void rows_show_what_the_options_say() {
    server.write("/x/p", "{\"v\":1}");
    server.put("/x/p?new_edits=false", "{\"_rev\":\"1-x\",\"w\":2}");
    server.write("/x/q", "{}");
    subscribe(
        "a", "'db':'x','include_docs':true,'conflicts':true,'style':'all_docs','doc_ids':['p']");

    String shown =
        server
            .request(
                "POST",
                "/x/_changes?include_docs=true&conflicts=true&style=all_docs&filter=_doc_ids")
            .json("{\"doc_ids\":[\"p\"]}")
            .send()
            .body();
    assertThat(socket.text()).endsWith("\"row\":" + shown.lines().skip(1).findFirst().get() + "}");
    assertThat(isCaughtUp("a")).isEqualTo(sequence());
  }

  @Test
  void a_selector_lets_some_rows_through_and_fields_narrow_their_documents() {
    server.write("/x/p", "{\"v\":1,\"w\":2}");
    server.write("/x/q", "{\"v\":9,\"w\":3}");
    subscribe("a", "'db':'x','include_docs':true,'selector':{'v':{'$gt':5}},'fields':['w']");

    assertThat(socket.text()).contains("\"id\":\"q\"").endsWith("\"doc\":{\"w\":3}}}");
    assertThat(isCaughtUp("a")).isEqualTo(sequence());
    server.write("/x/r", "{\"v\":1}");
    server.write("/x/s", "{\"v\":6}");
    assertThat(nextRow()).contains("\"id\":\"s\"").endsWith("\"doc\":{}}}");
  }

  private String nextRow() {
    String message = socket.text();
    while (!message.startsWith("{\"type\":\"row\"")) {
      message = socket.text();
    }
    return message;
  }

  @Test
  void subscriptions_of_several_databases_share_the_socket() {
    server.put("/y");
    subscribe("a", "'db':'x'");
    isCaughtUp("a");
    subscribe("b", "'db':'y'");
    isCaughtUp("b");
    server.write("/y/q", "{}");
    isRow("b", "q");
    isCaughtUpAgain("b");
    server.write("/x/p", "{}");
    isRow("a", "p");
  }

  private void isCaughtUpAgain(String id) {
    isCaughtUp(id);
  }

  @Test
  void credits_bound_what_comes() {
    for (int i = 0; i < 10; i++) {
      server.write("/x/d" + i, "{}");
    }
    subscribe("a", "'db':'x','credits':3");
    isRow("a", "d0");
    isRow("a", "d1");
    isRow("a", "d2");
    nothingElseComes();

    say("{'type':'credit','id':'a','n':2}");
    isRow("a", "d3");
    isRow("a", "d4");
    nothingElseComes();
    say("{'type':'credit','id':'a','n':100}");
    for (int i = 5; i < 10; i++) {
      isRow("a", "d" + i);
    }
    isCaughtUp("a");
  }

  @Test
  void credits_bound_what_comes_live() {
    subscribe("a", "'db':'x','credits':2");
    isCaughtUp("a");
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      server.write("/x/d" + i, "{}");
    }
    while (ids.size() < 2) {
      JsonObject message = socket.message();
      message.get("row").ifPresent(row -> ids.add(SocketClient.text((JsonObject) row, "id")));
    }
    assertThat(ids).containsExactly("d0", "d1");
    say("{'type':'credit','id':'a','n':3}");
    while (ids.size() < 5) {
      JsonObject message = socket.message();
      message.get("row").ifPresent(row -> ids.add(SocketClient.text((JsonObject) row, "id")));
    }
    assertThat(ids).containsExactly("d0", "d1", "d2", "d3", "d4");
  }

  @Test
  void without_credits_nothing_comes() {
    server.write("/x/p", "{}");
    subscribe("a", "'db':'x','credits':0");
    nothingElseComes();
    say("{'type':'credit','id':'a','n':1}");
    isRow("a", "p");
    isCaughtUp("a");
  }

  @Test
  void credits_add_up_to_a_billion() {
    subscribe("a", "'db':'x','credits':999999999");
    isCaughtUp("a");
    say("{'type':'credit','id':'a','n':1}");
    nothingElseComes();
    say("{'type':'credit','id':'a','n':1}");
    isError("a", "too_many_credits", false);

    server.write("/x/p", "{}");
    isRow("a", "p");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1.5", "'1'", "null"})
  void credits_that_are_none(String n) {
    server.write("/x/p", "{}");
    subscribe("a", "'db':'x','credits':0");
    say("{'type':'credit','id':'a','n':" + n + "}");
    isError("a", "bad_request", false);
    nothingElseComes();
    say("{'type':'credit','id':'a','n':1}");
    isRow("a", "p");
  }

  @Test
  void a_subscription_begun_without_credits_takes_none() {
    subscribe("a", "'db':'x'");
    isCaughtUp("a");
    say("{'type':'credit','id':'a','n':1}");
    isError("a", "bad_request", false);
    server.write("/x/p", "{}");
    isRow("a", "p");
  }

  @Test
  void a_limit_ends_the_subscription() {
    server.write("/x/p", "{}");
    server.write("/x/q", "{}");
    subscribe("a", "'db':'x','limit':1");
    String at = isRow("a", "p");
    assertThat(isEnd("a")).isEqualTo(at);
    nothingElseComes();
  }

  @Test
  void unsubscribing_is_answered_with_where_to_go_on() {
    server.write("/x/p", "{}");
    subscribe("a", "'db':'x'");
    String at = isRow("a", "p");
    isCaughtUp("a");
    say("{'type':'unsubscribe','id':'a'}");
    assertThat(isEnd("a")).isEqualTo(at);
    server.write("/x/q", "{}");
    nothingElseComes();

    subscribe("a", "'db':'x','since':'" + at + "'");
    isRow("a", "q");
  }

  /** Behind the end there is never a row, wherever the end finds the reading of a page. */
  @Test
  void unsubscribing_while_a_page_is_read() {
    for (int i = 0; i < 50; i++) {
      server.write("/x/d" + i, "{}");
    }
    for (int round = 0; round < 60; round++) {
      subscribe("a", "'db':'x'");
      for (int wait = 0; wait < round; wait++) {
        Thread.onSpinWait();
      }
      say("{'type':'unsubscribe','id':'a'}");
      String last = "0";
      JsonObject message = socket.message();
      while (!SocketClient.text(message, "type").equals("end")) {
        last = SocketClient.text(message, "at");
        message = socket.message();
      }
      assertThat(SocketClient.text(message, "at")).isEqualTo(last);
    }
    nothingElseComes();
  }

  @Test
  void an_id_that_nobody_has() {
    say("{'type':'credit','id':'b','n':1}");
    isError("b", "not_found", true);
    say("{'type':'unsubscribe','id':'b'}");
    isError("b", "not_found", true);
  }

  @Test
  void an_id_that_somebody_has_already() {
    server.put("/y");
    server.write("/y/q", "{}");
    subscribe("a", "'db':'x'");
    isCaughtUp("a");
    subscribe("a", "'db':'y'");
    isError("a", "duplicate_id", false);

    server.write("/x/p", "{}");
    isRow("a", "p");
  }

  @Test
  void an_error_of_one_subscription_leaves_the_others_alone() {
    subscribe("a", "'db':'x'");
    isCaughtUp("a");
    subscribe("b", "'db':'none'");
    isError("b", "not_found", true);
    subscribe("b", "'db':'No'");
    isError("b", "illegal_database_name", true);
    subscribe("b", "'db':'x','since':'junk'");
    isError("b", "bad_request", true);

    server.write("/x/p", "{}");
    isRow("a", "p");
    isCaughtUpAgain("a");
    subscribe("b", "'db':'x'");
    isRow("b", "p");
  }

  @Test
  void a_deleted_database_is_left() {
    server.put("/y");
    server.write("/x/p", "{}");
    subscribe("a", "'db':'x'");
    String at = isRow("a", "p");
    isCaughtUp("a");
    subscribe("b", "'db':'y'");
    isCaughtUp("b");

    server.delete("/x");
    server.put("/x");
    server.write("/x/other", "{}");
    assertThat(socket.text())
        .isEqualTo("{\"type\":\"left\",\"id\":\"a\",\"db\":\"x\",\"at\":\"" + at + "\"}");
    assertThat(isEnd("a")).isEqualTo(at);
    server.write("/y/q", "{}");
    isRow("b", "q");
  }

  @Test
  void a_heartbeat_says_where_the_subscription_stands() {
    server.write("/x/p", "{}");
    String at = sequence();
    subscribe("a", "'db':'x','since':'now','heartbeat':20");
    assertThat(isCaughtUp("a")).isEqualTo(at);
    for (int beats = 0; beats < 3; beats++) {
      assertThat(socket.text())
          .isEqualTo("{\"type\":\"heartbeat\",\"id\":\"a\",\"at\":\"" + at + "\"}");
    }
  }

  @Test
  void a_heart_beats_without_credits_too() {
    server.write("/x/p", "{}");
    subscribe("a", "'db':'x','heartbeat':20,'credits':0");
    assertThat(socket.text()).isEqualTo("{\"type\":\"heartbeat\",\"id\":\"a\",\"at\":\"0\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {"nothing", "[]", "{}", "{'type':'subscribe'}", "{'type':'row'}", "17", "{'type':"})
  void a_malformed_message_is_answered(String message) {
    say(message);
    isError(null, "bad_request", false);
    subscribe("a", "'db':'x'");
    isCaughtUp("a");
  }

  @Test
  void ids_and_names_are_escaped_in_messages() {
    server.write("/x/%22%3Cb%3E", "{}");
    say("{'type':'subscribe','id':'\\'\\u0000\\u2028','db':'x'}".replace("\\'", "\\\""));
    JsonObject message = socket.message();
    assertThat(SocketClient.text(message, "id")).isEqualTo("\"\0\u2028");
    assertThat(SocketClient.text((JsonObject) message.get("row").orElseThrow(), "id"))
        .isEqualTo("\"<b>");
  }

  @Test
  void a_stop_ends_each_subscription_and_sends_the_client_away() {
    LectusServer stopping = LectusServer.start(stores.fresh());
    stopping.put("/x");
    stopping.write("/x/p", "{}");
    socket.close();
    socket = SocketClient.connect(stopping, "/_changes", "lectus.changes.v1");
    subscribe("a", "'db':'x'");
    String at = isRow("a", "p");
    isCaughtUp("a");
    subscribe("b", "'db':'x','credits':0");
    nothingElseComes();

    stopping.close();
    List<String> ends = List.of(socket.text(), socket.text());
    assertThat(ends)
        .containsExactlyInAnyOrder(
            "{\"type\":\"end\",\"id\":\"a\",\"at\":\"" + at + "\"}",
            "{\"type\":\"end\",\"id\":\"b\",\"at\":\"0\"}");
    assertThat(socket.closeCode()).isEqualTo(1001);
  }
}
