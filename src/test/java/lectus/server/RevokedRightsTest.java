package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.config.AccessKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A right is taken away, on whichever of two servers: its user's feeds and long answers end. */
final class RevokedRightsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /**
   * Feeds end when their users may not read any more, on whichever of two servers that was decided:
   * servers that hear nothing of each other, and look for changes once an hour.
   */
  @Nested
  class Feeds {
    private static final String NOT_ALLOWED =
        "\"error\":\"forbidden\",\"reason\":\"You are not allowed to access this db.\"}\n";

    private static final String CHANGED =
        "{\"error\":\"unauthorized\",\"reason\":\"Your account has changed. Log in again.\"}\n";

    private final Store store = stores.fresh();
    @AutoClose private LectusServer one;
    @AutoClose private LectusServer other;
    private Member root;
    private Member ann;

    @BeforeEach
    void start() {
      Member.makeAdmin(store, "root");
      TestSettings settings =
          new TestSettings().polls(new PollSettings(Duration.ofMillis(100), Duration.ofHours(1)));
      one = LectusServer.start(store, settings);
      other = LectusServer.start(store, settings);
      root = new Member(other, "root");
      ann = new Member(one, "ann");
      root.request("PUT", "/_users").send();
      root.user("ann", "staff");
      root.user("bob");
      root.database("w", "ann", "bob");
      root.write("/w/before", "{}");
    }

    private static Connection follow(Member who, String target) {
      Connection feed = who.request("GET", target).open();
      Answer head = feed.readHead().expect(200);
      assertThat(head.header("x-accel-buffering")).isEqualTo("no");
      return feed;
    }

    private void revokeAndWrite() {
      root.admit("w", "bob");
      root.write("/w/after", "{}");
    }

    @Test
    void a_continuous_feed_ends_with_an_error_as_its_last_line() {
      try (Connection feed = follow(ann, "/w/_changes?feed=continuous&heartbeat=60000")) {
        assertThat(feed.chunkText()).contains("\"id\":\"before\"");
        revokeAndWrite();
        assertThat(feed.rest()).isEqualTo("{" + NOT_ALLOWED);
      }
      ann.get("/w/_changes").expect(403);
    }

    @Test
    void an_idle_feed_ends_without_any_write() {
      try (Connection feed = follow(ann, "/w/_changes?feed=continuous&since=now&heartbeat=60000")) {
        root.admit("w");
        assertThat(feed.rest()).isEqualTo("{" + NOT_ALLOWED);
      }
    }

    @Test
    void a_feed_of_somebody_who_is_not_logged_in_ends_when_the_database_is_not_for_all() {
      root.make("/w/_security", "{}");
      try (Connection feed =
          one.request("GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000").open()) {
        feed.readHead().expect(200);
        root.admit("w");
        assertThat(feed.rest())
            .isEqualTo(
                "{\"error\":\"unauthorized\","
                    + "\"reason\":\"You are not authorized to access this db.\"}\n");
      }
    }

    @Test
    void a_long_poll_ends_as_a_whole_answer_that_says_why() {
      String last = root.get("/w").member("update_seq");
      try (Connection feed = follow(ann, "/w/_changes?feed=longpoll&since=now&heartbeat=60000")) {
        revokeAndWrite();
        assertThat(feed.rest())
            .isEqualTo(
                "{\"results\":[\n\n],\n\"last_seq\":\"" + last + "\",\"pending\":0," + NOT_ALLOWED);
      }
    }

    @Test
    void an_event_source_ends_with_an_event() {
      try (Connection feed = follow(ann, "/w/_changes?feed=eventsource")) {
        assertThat(feed.chunkText()).contains("\"id\":\"before\"");
        revokeAndWrite();
        assertThat(feed.rest()).isEqualTo("event: error\ndata: {" + NOT_ALLOWED + "\n");
      }
    }

    @Test
    void a_web_socket_of_one_database_is_closed_as_a_matter_of_policy() {
      try (SocketClient feed = ann.socket("/w/_changes")) {
        assertThat(feed.text()).contains("\"id\":\"before\"");
        revokeAndWrite();
        assertThat(feed.closeCode()).isEqualTo(1008);
        assertThat(feed.closeReason()).isEqualTo("You are not allowed to access this db.");
        assertThat(feed.isSilent()).isTrue();
      }
    }

    @Test
    void a_subscription_ends_with_an_error_and_the_others_go_on() {
      root.database("x", "ann");
      try (Conversation client = ann.conversation()) {
        client.subscribe("w", "'db':'w'");
        client.row("w", "before");
        client.caughtUp("w");
        client.subscribe("x", "'db':'x'");
        client.caughtUp("x");
        revokeAndWrite();
        client.error("w", "forbidden", true);
        root.write("/x/a", "{}");
        client.row("x", "a");
        client.subscribe("w", "'db':'w'");
        client.error("w", "not_found", true);
      }
    }

    @Test
    void who_may_still_read_goes_on_though_all_share_one_reader() {
      Member bob = new Member(one, "bob");
      String target = "/w/_changes?feed=continuous&since=now&heartbeat=60000";
      try (Connection anns = follow(ann, target);
          Connection bobs = follow(bob, target)) {
        root.write("/w/both", "{}");
        assertThat(anns.chunkText()).contains("\"id\":\"both\"");
        assertThat(bobs.chunkText()).contains("\"id\":\"both\"");
        revokeAndWrite();
        assertThat(anns.rest()).isEqualTo("{" + NOT_ALLOWED);
        assertThat(bobs.chunkText()).contains("\"id\":\"after\"");
      }
    }

    @Test
    void a_database_without_a_right_is_answered_as_one_that_does_not_exist() {
      root.database("secret");
      try (Conversation client = ann.conversation()) {
        client.subscribe("a", "'db':'secret'");
        String secret = client.socket().text();
        client.subscribe("a", "'db':'missing'");
        assertThat(client.socket().text()).isEqualTo(secret);
        client.subscribe("a", "'db':'_users'");
        client.error("a", "not_found", true);
        client.subscribe("a", "'db':['secret','missing','_users']");
        client.caughtUp("a");
        root.write("/secret/x", "{}");
        root.user("carl");
        client.nothingElseComes();
      }
    }

    private void follows(Conversation client, String... dbsAndDocs) {
      for (String expected : dbsAndDocs) {
        JsonObject message = client.socket().message();
        while (!SocketClient.text(message, "type").equals("row")) {
          assertThat(SocketClient.text(message, "type")).isEqualTo("caught_up");
          message = client.socket().message();
        }
        assertThat(SocketClient.text(message, "db") + "/" + Conversation.docId(message))
            .isEqualTo(expected);
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {"'db':'user-*'", "'db':['user-a','user-b','w']"})
    void a_pattern_shows_what_its_user_may_read_at_each_time(String databases) {
      root.database("user-a", "ann");
      root.database("user-b");
      root.write("/user-b/hidden", "{}");
      root.write("/user-a/1", "{}");
      try (Conversation client = ann.conversation()) {
        client.subscribe("a", databases + ",'doc_ids':['1','2','3','4','5','6','hidden']");
        follows(client, "user-a/1");
        root.write("/user-b/2", "{}");
        root.write("/user-a/3", "{}");
        follows(client, "user-a/3");
        root.admit("user-b", "ann");
        root.write("/user-b/4", "{}");
        follows(client, "user-b/4");
        root.admit("user-a");
        root.write("/user-a/5", "{}");
        root.write("/user-b/6", "{}");
        follows(client, "user-b/6");
      }
    }

    @Test
    void that_a_database_is_gone_is_told_to_those_who_saw_it() {
      for (String name : List.of("user-a", "user-b", "user-c")) {
        root.database(name, name.equals("user-b") ? "bob" : "ann");
        root.write("/" + name + "/1", "{}");
      }
      try (Conversation client = ann.conversation()) {
        client.subscribe("a", "'db':'user-*'");
        follows(client, "user-a/1", "user-c/1");
        client.caughtUp("a");
        root.admit("user-c");
        root.write("/user-a/2", "{}");
        follows(client, "user-a/2");
        for (String name : List.of("user-c", "user-b", "user-a")) {
          root.request("DELETE", "/" + name).send();
        }
        JsonObject left = client.socket().message();
        while (SocketClient.text(left, "type").equals("caught_up")) {
          left = client.socket().message();
        }
        assertThat(SocketClient.text(left, "type")).isEqualTo("left");
        assertThat(SocketClient.text(left, "db")).isEqualTo("user-a");
      }
    }

    private void changeAccount(String how) {
      String path = "/_users/org.couchdb.user:ann";
      String rev = root.get(path).member("_rev");
      switch (how) {
        case "deleted" -> root.request("DELETE", path + "?rev=" + rev).send();
        case "purged" ->
            root.request("POST", "/_users/_purge")
                .json("{\"org.couchdb.user:ann\":[\"" + rev + "\"]}")
                .send();
        case "with its database" -> root.request("DELETE", "/_users").send();
        case "password" -> root.write(path + "?rev=" + rev, Member.document("ann", "new", "staff"));
        default -> root.write(path + "?rev=" + rev, Member.document("ann", "ann"));
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {"deleted", "purged", "with its database", "password", "roles"})
    void feeds_of_a_changed_account_end(String how) {
      root.make("/w/_security", "{\"members\":{\"roles\":[\"staff\"]}}");
      try (Connection feed = follow(ann, "/w/_changes?feed=continuous&since=now&heartbeat=60000");
          SocketClient webSocket = ann.socket("/w/_changes?since=now");
          Conversation client = ann.conversation()) {
        client.subscribe("w", "'db':'w','since':'now'");
        client.caughtUp("w");
        root.user("carl");
        root.write("/w/1", "{}");
        assertThat(feed.chunkText()).contains("\"id\":\"1\"");
        assertThat(webSocket.text()).contains("\"id\":\"1\"");
        client.row("w", "1");
        client.caughtUp("w");
        changeAccount(how);
        assertThat(feed.rest()).isEqualTo(CHANGED);
        assertThat(webSocket.closeCode()).isEqualTo(1008);
        assertThat(client.socket().closeCode()).isEqualTo(1008);
        assertThat(client.socket().closeReason())
            .isEqualTo("Your account has changed. Log in again.");
      }
    }

    @Test
    void feeds_of_an_admin_who_is_none_any_more_end() {
      Member.makeAdmin(store, "boss");
      Member boss = new Member(one, "boss");
      try (Connection feed =
              follow(boss, "/_db_updates?feed=continuous&since=now&heartbeat=60000");
          SocketClient idle = boss.socket("/_changes", "lectus.changes.v1")) {
        new Admins(store).remove("boss");
        assertThat(feed.rest()).endsWith(CHANGED);
        assertThat(idle.closeCode()).isEqualTo(1008);
      }
    }

    @Test
    void a_feed_ends_with_the_session_that_it_began_in() {
      TestSettings settings = new TestSettings().with(AccessKeys.COOKIE_SECONDS, 6);
      try (LectusServer brief = LectusServer.start(store, settings)) {
        String cookie =
            brief
                .post("/_session", "{\"name\":\"ann\",\"password\":\"ann\"}")
                .header("set-cookie")
                .replaceAll(";.*", "");
        try (Connection feed =
            brief
                .request(
                    "GET",
                    "/w/_changes?feed=continuous&since=now&heartbeat=60000",
                    "Cookie",
                    cookie)
                .open()) {
          feed.readHead().expect(200);
          assertThat(feed.rest())
              .isEqualTo(
                  "{\"error\":\"unauthorized\","
                      + "\"reason\":\"Your session has ended. Log in again.\"}\n");
        }
      }
    }

    @Test
    void feeds_of_a_party_end_when_there_is_an_admin() {
      Store open = stores.fresh();
      try (LectusServer party = LectusServer.start(open)) {
        party.put("/w");
        try (Connection feed =
            party.request("GET", "/w/_changes?feed=continuous&heartbeat=60000").open()) {
          feed.readHead();
          Member.makeAdmin(open, "root");
          assertThat(feed.rest())
              .isEqualTo(
                  "{\"error\":\"unauthorized\","
                      + "\"reason\":\"This server has an admin now. Log in.\"}\n");
        }
      }
    }

    @Test
    void a_user_has_so_many_subscriptions_over_all_his_sockets() {
      TestSettings settings = new TestSettings().with(AccessKeys.MAX_USER_SUBSCRIPTIONS, 2);
      try (LectusServer strict = LectusServer.start(store, settings);
          Conversation first = new Member(strict, "ann").conversation();
          Conversation second = new Member(strict, "ann").conversation();
          Conversation bobs = new Member(strict, "bob").conversation()) {
        first.subscribe("a", "'db':'w','since':'now'");
        first.caughtUp("a");
        second.subscribe("a", "'db':'user-*','since':'now'");
        second.caughtUp("a");
        second.subscribe("b", "'db':'w'");
        second.error("b", "too_many_requests", true);
        bobs.subscribe("a", "'db':'w','since':'now'");
        bobs.caughtUp("a");
        first.unsubscribe("a");
        first.end("a");
        second.subscribe("b", "'db':'w','since':'now'");
        second.caughtUp("b");
        second.subscribe("c", "'db':'w'");
        second.error("c", "too_many_requests", true);
        second.socket().close();
        awaitRoom(first);
        first.subscribe("a", "'db':'w','since':'now'");
        first.caughtUp("a");
      }
    }

    /** The server learns a moment later that a socket is closed. */
    private static void awaitRoom(Conversation client) {
      String refusal = "too_many_requests";
      while (refusal.equals("too_many_requests")) {
        client.subscribe("a", "'db':'missing'");
        refusal = SocketClient.text(client.socket().message(), "error");
      }
      assertThat(refusal).isEqualTo("not_found");
    }
  }

  /**
   * Long answers end when their readers' rights do, whichever of two servers took them away.
   * Clients read slowly, so that most of an answer has not been read from the store when that
   * happens.
   */
  @Nested
  class LongAnswers {
    private static final int DOCUMENTS = 24;

    /** Together they are far more than the sockets' buffers and a part of an answer. */
    private static final String LARGE = "{\"t\":\"" + "x".repeat(1 << 20) + "\"}";

    private static final int SMALL_RECEIVE_BUFFER = 16 << 10;

    private static Store store;
    private static LectusServer one;
    private static LectusServer other;
    private static Member root;
    private static Member ann;

    @BeforeAll
    static void start() {
      store = stores.fresh();
      Member.makeAdmin(store, "root");
      one = LectusServer.start(store, new TestSettings());
      other = LectusServer.start(store, new TestSettings());
      root = new Member(other, "root");
      ann = new Member(one, "ann");
      root.request("PUT", "/_users").send();
      root.request("PUT", "/w?partitioned=true").send();
      for (int i = 0; i < DOCUMENTS; i++) {
        root.write("/w/p:" + i, LARGE);
        root.write("/w/_local/" + i, LARGE);
      }
    }

    @AfterAll
    static void stop() {
      one.close();
      other.close();
    }

    private static void admitAnn() {
      String path = "/_users/org.couchdb.user:ann";
      Answer known = root.get(path);
      String rev = known.status() == 200 ? "?rev=" + known.member("_rev") : "";
      root.write(path + rev, Member.document("ann", "ann", "staff"));
      root.make("/w/_security", "{\"members\":{\"roles\":[\"staff\"]}}");
      Await.until("ann is let in", () -> ann.get("/w").status() == 200);
    }

    private static Request request(Member who, String target) {
      String[] parts = target.split(" ", 2);
      return parts[0].equals("GET")
          ? who.request("GET", parts[1])
          : who.request("POST", parts[1]).json(body(parts[1]));
    }

    private static String body(String target) {
      if (target.contains("queries")) {
        return "{\"queries\":[{\"include_docs\":true},{\"include_docs\":true}]}";
      }
      return IntStream.range(0, DOCUMENTS)
          .mapToObj("{\"id\":\"p:%d\"}"::formatted)
          .collect(Collectors.joining(",", "{\"docs\":[", "]}"));
    }

    private static Connection begin(Member who, String target) {
      Connection connection = new Connection(who.server().port(), SMALL_RECEIVE_BUFFER);
      connection.write(request(who, target).header("Connection", "close").bytes());
      connection.readHead().expect(200);
      connection.chunkTextBegins();
      return connection;
    }

    /** Whether an answer of which 100 bytes of a chunk were read ends before its end. */
    private static boolean isBrokenOff(Connection connection) {
      try {
        return !connection.readToEnd().endsWith("\r\n0\r\n\r\n");
      } catch (UncheckedIOException reset) {
        return true;
      }
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "GET /w/_all_docs?include_docs=true",
          "POST /w/_all_docs/queries",
          "GET /w/_local_docs?include_docs=true",
          "GET /w/_partition/p/_all_docs?include_docs=true",
          "GET /w/_changes?include_docs=true",
          "GET /w/_changes?include_docs=true&descending=true",
          "POST /w/_bulk_get"
        })
    void an_answer_is_broken_off_when_its_reader_is_no_member_any_more(String target) {
      admitAnn();
      try (Connection answer = begin(ann, target)) {
        root.admit("w", "bob");
        assertThat(isBrokenOff(answer)).isTrue();
      }
      request(ann, target).send().expect(403);
    }

    @Test
    void an_answer_goes_on_when_others_lose_their_rights() {
      Member carl = new Member(one, "carl");
      root.user("carl");
      root.admit("w", "ann", "carl");
      try (Connection answer = begin(carl, "GET /w/_all_docs?include_docs=true")) {
        root.admit("w", "carl");
        assertThat(isBrokenOff(answer)).isFalse();
      }
    }

    private static void changeAccount(String how) {
      String path = "/_users/org.couchdb.user:ann";
      String at = path + "?rev=" + root.get(path).member("_rev");
      switch (how) {
        case "deleted" -> root.request("DELETE", at).send();
        case "password" -> root.write(at, Member.document("ann", "new", "staff"));
        default -> root.write(at, Member.document("ann", "ann", "guests"));
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {"deleted", "password", "roles"})
    void an_answer_is_broken_off_when_its_readers_account_changes(String how) {
      admitAnn();
      try (Connection answer = begin(ann, "GET /w/_all_docs?include_docs=true")) {
        changeAccount(how);
        Await.until("ann is another", () -> List.of(401, 403).contains(ann.get("/w").status()));
        assertThat(isBrokenOff(answer)).isTrue();
      }
    }

    @ParameterizedTest
    @ValueSource(
        strings = {"GET /w/_all_docs?include_docs=true", "GET /w/_changes?include_docs=true"})
    void an_answer_is_broken_off_when_its_reader_is_no_admin_any_more(String target) {
      Member.makeAdmin(store, "boss");
      Member boss = new Member(one, "boss");
      Await.until("boss is an admin", () -> boss.get("/w").status() == 200);
      try (Connection answer = begin(boss, target)) {
        new Admins(store).remove("boss");
        Await.until("boss is nobody", () -> boss.get("/w").status() == 401);
        assertThat(isBrokenOff(answer)).isTrue();
      }
    }

    @Test
    void an_answer_of_a_party_is_broken_off_when_there_is_an_admin() {
      Store open = stores.fresh();
      try (LectusServer party = LectusServer.start(open)) {
        party.put("/w");
        for (int i = 0; i < DOCUMENTS; i++) {
          party.put("/w/" + i, LARGE);
        }
        try (Connection answer = new Connection(party.port(), SMALL_RECEIVE_BUFFER)) {
          answer.write(
              party
                  .request("GET", "/w/_all_docs?include_docs=true", "Connection", "close")
                  .bytes());
          answer.readHead();
          answer.chunkTextBegins();
          Member.makeAdmin(open, "root");
          Await.until("the party is over", () -> party.request("GET", "/w").send().status() == 401);
          assertThat(isBrokenOff(answer)).isTrue();
        }
      }
    }
  }

  /** A right is taken away in the midst of writes: what is written afterwards is never shown. */
  @Nested
  class WhileWriting {
    private static final int ROUNDS = 12;
    private static final Pattern DOCUMENT = Pattern.compile("\"id\":\"doc(\\d+)\"");

    private final Store store = stores.fresh();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicBoolean over = new AtomicBoolean();
    private final List<Thread> writers = new ArrayList<>();
    private LectusServer server;
    private Member root;
    private Member ann;

    @BeforeEach
    void start() {
      Member.makeAdmin(store, "root");
      server = LectusServer.start(store);
      root = new Member(server, "root");
      ann = new Member(server, "ann");
      root.request("PUT", "/_users").send();
      root.user("ann");
      root.database("user-a", "ann");
      for (int i = 0; i < 2; i++) {
        Thread writer = new Thread(this::write);
        writers.add(writer);
        writer.start();
      }
    }

    private void write() {
      while (!over.get()) {
        root.write("/user-a/doc" + begun.incrementAndGet(), "{}");
      }
    }

    @AfterEach
    void stop() throws InterruptedException {
      over.set(true);
      for (Thread writer : writers) {
        writer.join();
      }
      server.close();
    }

    /** Takes the right away, and returns the last document whose write had begun by then. */
    private int revoke() {
      root.admit("user-a");
      return begun.get();
    }

    private static void assertNoneBehind(int last, String rows) {
      Matcher documents = DOCUMENT.matcher(rows);
      while (documents.find()) {
        assertThat(Integer.parseInt(documents.group(1))).isLessThanOrEqualTo(last);
      }
    }

    @Test
    void a_continuous_feed_shows_nothing_that_was_written_later() {
      for (int round = 0; round < ROUNDS; round++) {
        root.admit("user-a", "ann");
        try (Connection feed =
            ann.request("GET", "/user-a/_changes?feed=continuous&since=now&heartbeat=60000")
                .open()) {
          feed.readHead().expect(200);
          StringBuilder rows = new StringBuilder(feed.chunkText());
          int last = revoke();
          for (String chunk = feed.chunkText(); !chunk.isEmpty(); chunk = feed.chunkText()) {
            rows.append(chunk);
          }
          assertThat(rows).contains("\"error\":\"forbidden\"");
          assertNoneBehind(last, rows.toString());
        }
      }
    }

    @Test
    void a_web_socket_shows_nothing_that_was_written_later() {
      for (int round = 0; round < ROUNDS; round++) {
        root.admit("user-a", "ann");
        try (SocketClient feed = ann.socket("/user-a/_changes?since=now")) {
          StringBuilder rows = new StringBuilder(feed.text());
          int last = revoke();
          assertThat(feed.closeCode()).isEqualTo(1008);
          for (String row = feed.poll(); row != null; row = feed.poll()) {
            rows.append(row);
          }
          assertNoneBehind(last, rows.toString());
        }
      }
    }

    /** A pattern does not end; so a database that is still readable says when enough was heard. */
    @Test
    void a_pattern_shows_nothing_that_was_written_later() {
      root.database("user-b", "ann");
      try (Conversation client = ann.conversation()) {
        client.subscribe("a", "'db':'user-*','since':'now'");
        for (int round = 0; round < ROUNDS; round++) {
          root.admit("user-a", "ann");
          String row = client.socket().text();
          while (!row.contains("\"db\":\"user-a\"")) {
            row = client.socket().text();
          }
          int last = revoke();
          root.write("/user-b/end" + round, "{}");
          StringBuilder rows = new StringBuilder();
          for (row = ""; !row.contains("\"end" + round + "\""); row = client.socket().text()) {
            rows.append(row);
          }
          assertNoneBehind(last, rows.toString());
        }
      }
    }
  }
}
