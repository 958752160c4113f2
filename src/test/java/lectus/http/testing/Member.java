package lectus.http.testing;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.account.Admins;
import lectus.store.Store;

/** Somebody who uses a server under a name; his password is his name. */
public record Member(LectusServer server, String name) {
  private static final int ITERATIONS = 1;

  /** Makes an admin, before a server is started on the store. */
  public static void makeAdmin(Store store, String name) {
    new Admins(store).put(name, Admins.hashOf(name, ITERATIONS));
  }

  public static String basic(String name, String password) {
    byte[] pair = (name + ':' + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(pair);
  }

  public String authorization() {
    return basic(name, name);
  }

  public Request request(String method, String target) {
    return server.request(method, target).header("Authorization", authorization());
  }

  public Answer get(String target) {
    return request("GET", target).send();
  }

  public Answer put(String target, String json) {
    return request("PUT", target).json(json).send();
  }

  /** Sends a PUT that must succeed, and returns its answer. */
  public Answer make(String target, String json) {
    Answer answer = put(target, json);
    if (answer.status() / 100 != 2) {
      throw new IllegalStateException(answer.toString());
    }
    return answer;
  }

  /** Writes a document and returns its revision. */
  public String write(String target, String json) {
    return make(target, json).member("rev");
  }

  /** Makes a database with members of these names alone. */
  public void database(String name, String... members) {
    Answer answer = request("PUT", "/" + name).send();
    if (answer.status() != 201) {
      throw new IllegalStateException(answer.toString());
    }
    admit(name, members);
  }

  /** Lets these members use a database, and nobody else but admins. */
  public void admit(String database, String... members) {
    String names =
        Stream.of(members).map(each -> '"' + each + '"').collect(Collectors.joining(","));
    make(
        "/" + database + "/_security",
        "{\"members\":{\"names\":[" + names + "],\"roles\":[\"nobodys\"]}}");
  }

  /** Makes a user. */
  public String user(String user, String... roles) {
    return write("/_users/org.couchdb.user:" + user, document(user, user, roles));
  }

  /** Returns the document of a user with a new password. */
  public static String document(String user, String password, String... roles) {
    String list = Stream.of(roles).map(role -> '"' + role + '"').collect(Collectors.joining(","));
    return "{\"type\":\"user\",\"name\":\"%s\",\"password\":\"%s\",\"roles\":[%s]}"
        .formatted(user, password, list);
  }

  public SocketClient socket(String path, String... protocols) {
    return SocketClient.connectAs(authorization(), server.port(), path, protocols);
  }

  public Conversation conversation() {
    return Conversation.over(socket("/_changes", "lectus.changes.v1"));
  }
}
