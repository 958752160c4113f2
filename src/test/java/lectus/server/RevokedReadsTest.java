package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.account.Admins;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Long answers end when their readers' rights do, whichever of two servers took them away. Clients
 * read slowly, so that most of an answer has not been read from the store when that happens.
 */
final class RevokedReadsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

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
            party.request("GET", "/w/_all_docs?include_docs=true", "Connection", "close").bytes());
        answer.readHead();
        answer.chunkTextBegins();
        Member.makeAdmin(open, "root");
        Await.until("the party is over", () -> party.request("GET", "/w").send().status() == 401);
        assertThat(isBrokenOff(answer)).isTrue();
      }
    }
  }
}
