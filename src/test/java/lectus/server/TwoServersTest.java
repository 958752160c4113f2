package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.BooleanSupplier;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two servers on one store that hear nothing of each other. */
final class TwoServersTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @Nested
  class Databases {
    private final Store store = stores.fresh();
    @AutoClose private final LectusServer one = LectusServer.start(store);
    @AutoClose private final LectusServer other = LectusServer.start(store);

    @Test
    void a_listener_learns_of_a_write_elsewhere() {
      one.put("/w");
      try (Connection feed =
          one.request("GET", "/w/_changes?feed=longpoll&heartbeat=60000").open()) {
        feed.readHead();
        other.write("/w/a", "{}");

        assertThat(feed.rest()).contains("\"id\":\"a\"");
      }
    }

    @Test
    void a_listener_learns_of_a_deletion_elsewhere() {
      one.put("/w");
      one.write("/w/a", "{}");
      String last = one.get("/w").member("update_seq");
      try (Connection feed =
          one.request("GET", "/w/_changes?feed=continuous&since=now&heartbeat=60000").open()) {
        feed.readHead();
        other.delete("/w");
        other.put("/w");
        other.write("/w/of_the_next_life", "{}");

        assertThat(feed.rest()).isEqualTo("{\"last_seq\":\"" + last + "\",\"pending\":0}\n");
      }
    }

    @Test
    void a_database_created_again_elsewhere_is_another_one() {
      one.put("/w");
      String rev = one.write("/w/a", "{\"v\":1}");
      other.delete("/w");
      other.put("/w");

      one.get("/w/a").expect(404);
      one.put("/w/a?rev=" + rev, "{}").expect(409);
      one.put("/w/b", "{}").expect(201);
      other.get("/w/b").expect(200);
      assertThat(other.get("/w").body()).contains("\"doc_count\":1,");
    }
  }

  @Nested
  class Rights {
    private static final String FEED =
        "/w/_changes?feed=continuous&since=now&heartbeat=60000&include_docs=true";

    private final Store store = stores.fresh();
    @AutoClose private LectusServer one;
    @AutoClose private LectusServer other;
    private Member root;

    @BeforeEach
    void start() {
      Member.makeAdmin(store, "root");
      one = LectusServer.start(store);
      other = LectusServer.start(store);
      root = new Member(one, "root");
      root.request("PUT", "/_users").send();
      root.user("ann", "staff");
      root.database("w", "ann");
    }

    private static Answer logIn(LectusServer server, String name, String password) {
      return server.post(
          "/_session", "{\"name\":\"" + name + "\",\"password\":\"" + password + "\"}");
    }

    private static String cookieOf(LectusServer server, String name) {
      return logIn(server, name, name).header("set-cookie").replaceAll(";.*", "");
    }

    private static Answer withCookie(LectusServer server, String target, String cookie) {
      return server.request("GET", target, "Cookie", cookie).send();
    }

    private static void await(BooleanSupplier condition) {
      while (!condition.getAsBoolean()) {
        Thread.onSpinWait();
      }
    }

    @Test
    void each_takes_the_others_cookies_and_so_does_a_third_that_starts_later() {
      String ofOne = cookieOf(one, "ann");
      String ofOther = cookieOf(other, "root");

      assertThat(withCookie(other, "/_session", ofOne).body())
          .contains("\"name\":\"ann\",\"roles\":[\"staff\"]");
      assertThat(withCookie(one, "/_session", ofOther).body())
          .contains("\"name\":\"root\",\"roles\":[\"_admin\"]");
      withCookie(other, "/w", ofOne).expect(200);
      withCookie(other, "/_all_dbs", ofOne).expect(401);
      try (LectusServer third = LectusServer.start(store)) {
        assertThat(withCookie(third, "/_session", ofOne).body()).contains("\"name\":\"ann\"");
      }
    }

    @Test
    void an_admins_new_password_counts_on_both_and_ends_his_sessions() {
      Member there = new Member(other, "root");
      String cookie = cookieOf(other, "root");
      there.get("/_all_dbs").expect(200);

      root.make("/_node/_local/_config/admins/root", "\"new\"");

      logIn(other, "root", "new").expect(200);
      await(() -> there.get("/_all_dbs").status() == 401);
      assertThat(there.get("/_all_dbs").member("reason"))
          .isEqualTo("Name or password is incorrect.");
      assertThat(withCookie(other, "/_session", cookie).body()).contains("\"name\":null");
      withCookie(other, "/_all_dbs", cookie).expect(401);
      withCookie(one, "/_all_dbs", cookie).expect(401);
    }

    @Test
    void an_admin_who_is_removed_is_nobody_on_both() {
      root.make("/_node/_local/_config/admins/boss", "\"boss\"");
      Member boss = new Member(other, "boss");
      String cookie = cookieOf(other, "boss");
      boss.get("/_all_dbs").expect(200);

      root.request("DELETE", "/_node/_local/_config/admins/boss").send();

      await(() -> boss.get("/_all_dbs").status() == 401);
      assertThat(withCookie(other, "/_session", cookie).body()).contains("\"name\":null");
    }

    @Test
    void a_security_object_counts_for_the_next_request_on_the_other() {
      Member ann = new Member(other, "ann");
      ann.get("/w/_all_docs").expect(200);
      root.admit("w", "bob");
      ann.get("/w/_all_docs").expect(403);
      ann.put("/w/a", "{}").expect(403);
      root.admit("w", "ann");
      ann.put("/w/a", "{}").expect(201);
    }

    @Test
    void a_security_object_ends_the_feed_of_a_session_on_the_other() {
      String cookie = cookieOf(one, "ann");
      try (Connection feed = other.request("GET", FEED, "Cookie", cookie).open()) {
        feed.readHead().expect(200);
        root.write("/w/seen", "{}");
        assertThat(feed.chunkText()).contains("\"id\":\"seen\"");

        root.admit("w", "bob");
        root.write("/w/hidden", "{}");

        assertThat(feed.chunkText()).contains("\"error\":\"forbidden\"").doesNotContain("hidden");
        assertThat(feed.chunkText()).isEmpty();
      }
    }

    @Test
    void a_users_new_roles_count_on_the_other_in_the_session_that_he_has() {
      root.make("/w/_security", "{\"members\":{\"roles\":[\"boss\"]}}");
      String cookie = cookieOf(other, "ann");
      withCookie(other, "/w", cookie).expect(403);

      String path = "/_users/org.couchdb.user:ann";
      root.write(path, root.get(path).body().replace("\"staff\"", "\"boss\""));

      await(() -> withCookie(other, "/w", cookie).status() == 200);
      assertThat(withCookie(other, "/_session", cookie).body()).contains("\"roles\":[\"boss\"]");
      root.write(path, root.get(path).body().replace("\"boss\"", "\"staff\""));
      await(() -> withCookie(other, "/w", cookie).status() == 403);
    }
  }
}
