package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TestSettings;
import lectus.json.JsonValue.JsonObject;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What users who may read some databases are shown of many. */
final class MembersOfManyDatabasesTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final Store store = stores.fresh();
  @AutoClose private LectusServer server;
  private Member root;
  private Member ann;

  @BeforeEach
  void start() {
    Member.makeAdmin(store, "root");
    serve();
    root.request("PUT", "/_users").send();
    root.user("ann");
    root.user("bob");
  }

  private void serve() {
    server = LectusServer.start(store, new TestSettings());
    root = new Member(server, "root");
    ann = new Member(server, "ann");
  }

  /** Reads messages up to {@code caught_up}, one word each, and returns the last position. */
  private static String read(Conversation client, List<String> words) {
    while (true) {
      JsonObject message = client.socket().message();
      switch (SocketClient.text(message, "type")) {
        case "row" ->
            words.add(SocketClient.text(message, "db") + " " + Conversation.docId(message));
        case "left" -> words.add("left " + SocketClient.text(message, "db"));
        case "caught_up" -> {
          return SocketClient.text(message, "at");
        }
        default -> throw new AssertionError(message);
      }
    }
  }

  private List<String> since(Member who, String databases, String at) {
    List<String> words = new ArrayList<>();
    try (Conversation client = who.conversation()) {
      client.subscribe("a", "'db':" + databases + ",'since':'" + at + "'");
      read(client, words);
    }
    return words;
  }

  @Test
  void a_right_given_while_somebody_reads_slowly_neither_turns_rows_round_nor_repeats_them() {
    root.database("x");
    root.database("y", "ann");
    root.write("/y/1", "{}");
    root.write("/x/0", "{}");
    root.write("/y/2", "{}");
    root.write("/y/3", "{}");
    try (Conversation client = ann.conversation()) {
      client.subscribe("a", "'db':'*','credits':1");
      String at = client.row("a", "1");
      root.admit("x", "ann");
      root.write("/x/later", "{}");
      client.credit("a", 10);
      for (String id : List.of("2", "3", "later")) {
        String next = client.row("a", id);
        assertThat(next).isGreaterThan(at);
        at = next;
      }
    }
  }

  /** Nothing of it is in the memory of a server. */
  @Test
  void who_could_read_a_database_learns_after_a_restart_that_it_is_deleted() {
    for (String name : List.of("a", "b", "c")) {
      root.database(name, name.equals("b") ? "bob" : "ann");
    }
    root.write("/c/1", "{}");
    String at;
    try (Conversation client = ann.conversation()) {
      client.subscribe("a", "'db':'*'");
      at = read(client, new ArrayList<>());
    }
    root.admit("c", "bob");
    for (String name : List.of("a", "b", "c")) {
      root.request("DELETE", "/" + name).send();
    }
    server.close();
    serve();

    assertThat(since(ann, "'*'", at)).containsExactly("left a");
    assertThat(since(new Member(server, "bob"), "['b','c']", at))
        .containsExactly("left b", "left c");
    assertThat(since(root, "'*'", at)).contains("left a", "left b", "left c");
  }

  @Test
  void who_could_read_any_of_several_lives_learns_that_they_are_over() {
    root.database("a", "ann");
    String at;
    try (Conversation client = ann.conversation()) {
      client.subscribe("a", "'db':'*'");
      at = read(client, new ArrayList<>());
    }
    root.request("DELETE", "/a").send();
    root.database("a", "bob");
    root.request("DELETE", "/a").send();
    assertThat(since(ann, "'*'", at)).containsExactly("left a");
  }
}
