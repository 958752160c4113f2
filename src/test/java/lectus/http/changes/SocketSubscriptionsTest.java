package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Beginning and end of subscriptions, which do not affect each other. */
@Timeout(60)
final class SocketSubscriptionsTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

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
}
