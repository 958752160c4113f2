package lectus.http.changes;

import static lectus.http.testing.SingleQuotes.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue.JsonObject;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sockets of {@code lectus.changes.v1}: subscriptions to single databases, which do not affect each
 * other, their rows and positions, and as many rows as there are credits.
 */
final class ChangesSocketTest {
  @RegisterExtension static final LectusServer server = LectusServer.shared();

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @AutoClose private Conversation client;

  @BeforeEach
  void connect() {
    server.put("/x");
    client = Conversation.with(server);
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
            json("{'type':'row','id':'a','db':'x','at':'%s','row':%s}")
                .formatted(seq, shown.substring(0, shown.length() - 1)));
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
            .json(json("{'doc_ids':['p']}"))
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
    server.get("/x/_changes?since=" + at).expect(server.get("/x/_changes").body());
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
              json("{'type':'end','id':'a','at':'%s'}").formatted(at),
              json("{'type':'end','id':'b','at':'0'}"));
      assertThat(away.socket().closeCode()).isEqualTo(1001);
    }
  }

  /** Returns so many ids that two such lists fit into a socket's budget, but not three. */
  private static String ids() {
    return IntStream.range(0, 5_000)
        .mapToObj(i -> "'id-" + i + "'")
        .collect(Collectors.joining(",", "'db':'x','doc_ids':[", "]"));
  }

  private void refused(String id, String reason) {
    JsonObject message = client.socket().message();
    assertThat(SocketClient.text(message, "type")).isEqualTo("error");
    assertThat(SocketClient.text(message, "id")).isEqualTo(id);
    assertThat(SocketClient.text(message, "error")).isEqualTo("bad_request");
    assertThat(SocketClient.text(message, "reason")).contains(reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"(a{999}){9}", "(a?){999}b", "((a{1000}){1000}){1000}"})
  void a_small_expression_with_a_large_program_is_refused(String expression) {
    client.subscribe("a", "'db':'x','selector':{'v':{'$regex':'" + expression + "'}}");
    refused("a", "2000 instructions");
    client.subscribe("a", "'db':'x'");
    client.caughtUp("a");
  }

  @Test
  void thousands_of_expressions_in_one_message_are_refused() {
    String many =
        IntStream.range(0, 2_000)
            .mapToObj(i -> "{'v':{'$regex':'(a{9}){9}'}}")
            .collect(Collectors.joining(",", "'db':'x','selector':{'$or':[", "]}"));
    client.subscribe("a", many);
    refused("a", "2000 instructions");
  }

  @Test
  void a_filter_that_is_wrong_ends_its_subscription_alone() {
    client.subscribe("ok", "'db':'x'");
    client.caughtUp("ok");
    client.subscribe("a", "'db':'x','selector':{'$foo':1}");
    refused("a", "Invalid operator: $foo");
    client.subscribe("a", "'db':'x','fields':['" + "n.".repeat(500) + "n']");
    refused("a", "500 parts");
    client.subscribe("a", "'db':'x','selector':{'v':1}");
    client.caughtUp("a");
  }

  /** Messages sent right after the subscription find it, though its filter is not compiled yet. */
  @Test
  void messages_about_a_subscription_that_opens() {
    server.write("/x/p", "{\"v\":1}");
    server.write("/x/q", "{\"v\":1}");
    client.subscribe("a", "'db':'x','credits':0,'selector':{'v':{'$gt':0}}");
    client.subscribe("a", "'db':'x'");
    client.credit("a", 1);
    client.error("a", "duplicate_id", false);
    client.row("a", "p");
    client.unsubscribe("a");
    client.end("a");

    client.subscribe("b", "'db':'x','selector':{'v':{'$gt':0}},'since':'now'");
    client.unsubscribe("b");
    JsonObject message = client.socket().message();
    if (SocketClient.text(message, "type").equals("caught_up")) {
      message = client.socket().message(); // It had opened before the second message came.
    }
    assertThat(SocketClient.text(message, "type")).isEqualTo("end");
    client.nothingElseComes();
  }

  @Test
  void filters_of_a_socket_share_a_budget() {
    client.subscribe("a", ids());
    client.caughtUp("a");
    client.subscribe("b", ids());
    client.caughtUp("b");
    client.subscribe("c", ids());
    client.error("c", "filters_too_large", true);
    client.subscribe("plain", "'db':'x'");
    client.caughtUp("plain");

    client.unsubscribe("a");
    client.end("a");
    client.subscribe("c", ids());
    client.caughtUp("c");
    client.subscribe("d", ids());
    client.error("d", "filters_too_large", true);
  }

  /**
   * Returns names, which take 400 bytes each and more: two such lists fit into four megabytes, but
   * not three.
   */
  private static String names() {
    return IntStream.range(0, 5_000)
        .mapToObj(i -> "'db-" + i + "'")
        .collect(Collectors.joining(",", "'since':'now','db':[", "]"));
  }

  @Test
  void the_names_of_many_databases_count_like_filters() {
    client.subscribe("a", names());
    client.caughtUp("a");
    client.subscribe("b", names());
    client.caughtUp("b");
    client.subscribe("c", names());
    client.error("c", "filters_too_large", true);
    client.unsubscribe("a");
    client.end("a");
    client.subscribe("c", names());
    client.caughtUp("c");
  }

  /** However a subscription ends, its share is released. */
  @Test
  void who_waits_for_the_end_of_a_subscription_has_its_share_again() {
    String names =
        IntStream.range(0, 9_000)
            .mapToObj(i -> "'database-" + i + "'")
            .collect(Collectors.joining(",", "'db':[", "]"));
    for (int round = 0; round < 10; round++) {
      client.subscribe("a", names);
      client.unsubscribe("a");
      client.end("a");
    }
  }

  @Test
  void the_budget_is_given_back() {
    server.write("/x/id-1", "{}");
    for (int round = 0; round < 6; round++) {
      client.subscribe("limited", ids() + ",'limit':1");
      client.row("limited", "id-1");
      client.end("limited");
      client.subscribe("failed", ids().replace("'x'", "'none'"));
      client.error("failed", "not_found", true);
    }
    client.subscribe("a", ids());
    client.row("a", "id-1");
    client.caughtUp("a");
  }

  /** Two thousand instructions for every character of a megabyte would take a minute. */
  @Test
  void a_document_that_is_too_much_work_fails_the_subscription() {
    server.write("/x/big", "{\"v\":\"" + "a".repeat(1_000_000) + "\"}");
    client.subscribe("a", "'db':'x','selector':{'v':{'$regex':'b{300}'}}");
    refused("a", "too much work for the document `big`");
    client.subscribe("a", "'db':'x','selector':{'v':{'$regex':'b{30}'}}");
    client.caughtUp("a");
  }

  /** The same for a document from the tail that both subscriptions share. */
  @Test
  void a_live_document_that_is_too_much_work_fails_one_subscription_alone() {
    client.subscribe("sound", "'db':'x','selector':{'v':{'$exists':true}}");
    client.caughtUp("sound");
    client.subscribe("failing", "'db':'x','selector':{'v':{'$regex':'b{400}'}}");
    client.caughtUp("failing");
    server.write("/x/big", "{\"v\":\"" + "a".repeat(200_000) + "\"}");
    boolean rowCame = false;
    boolean errorCame = false;
    while (!rowCame || !errorCame) {
      JsonObject message = client.socket().message();
      if (SocketClient.text(message, "id").equals("sound")) {
        rowCame |= SocketClient.text(message, "type").equals("row");
      } else {
        assertThat(SocketClient.text(message, "type")).isEqualTo("error");
        assertThat(SocketClient.text(message, "reason"))
            .contains("too much work for the document `big`");
        errorCame = true;
      }
    }
  }

  @Test
  void the_filters_of_all_sockets_share_what_the_server_has_for_them() {
    try (LectusServer small =
            LectusServer.start(stores.fresh(), new TestSettings().filterMemoryBytes(2 << 20));
        Conversation first = conversation(small)) {
      first.subscribe("a", ids());
      first.caughtUp("a");
      try (Conversation second = Conversation.with(small)) {
        second.subscribe("b", ids());
        JsonObject message = second.socket().message();
        assertThat(SocketClient.text(message, "error")).isEqualTo("service_unavailable");
        second.subscribe("c", "'db':'x','doc_ids':['d']");
        second.caughtUp("c");
        first.close();
        Await.until("it is given back", () -> subscribes(small));
      }
    }
  }

  private static Conversation conversation(LectusServer server) {
    server.put("/x");
    return Conversation.with(server);
  }

  private static boolean subscribes(LectusServer server) {
    try (Conversation again = Conversation.with(server)) {
      again.subscribe("b", ids());
      return !SocketClient.text(again.socket().message(), "type").equals("error");
    }
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
    assertThat(client.socket().text()).isEqualTo(json("{'type':'heartbeat','id':'a','at':'0'}"));
  }
}
