package lectus.http.testing;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.json.JsonBuffer;
import lectus.json.JsonValue.JsonObject;

/** A client's side of {@code lectus.changes.v1}: what it sends, and what it expects next. */
public final class Conversation implements AutoCloseable {
  private final SocketClient socket;

  private Conversation(SocketClient socket) {
    this.socket = socket;
  }

  public static Conversation with(LectusServer server) {
    return new Conversation(SocketClient.connect(server, "/_changes", "lectus.changes.v1"));
  }

  public static Conversation over(SocketClient socket) {
    return new Conversation(socket);
  }

  public SocketClient socket() {
    return socket;
  }

  /**
   * @param json with apostrophes for quotes
   */
  public void say(String json) {
    socket.send(json.replace('\'', '"'));
  }

  /**
   * @param members in the form of {@link #say}
   */
  public void subscribe(String id, String members) {
    say("{'type':'subscribe','id':'" + id + "'," + members + "}");
  }

  public void unsubscribe(String id) {
    say("{'type':'unsubscribe','id':'" + id + "'}");
  }

  public void credit(String id, Object n) {
    say("{'type':'credit','id':'" + id + "','n':" + n + "}");
  }

  /**
   * Expects a row.
   *
   * @return its {@code at}
   */
  public String row(String subscription, String docId) {
    JsonObject message = next("row", subscription);
    assertThat(docId(message)).isEqualTo(docId);
    return at(message);
  }

  /** Returns the document id of a row. */
  public static String docId(JsonObject message) {
    return SocketClient.text((JsonObject) message.get("row").orElseThrow(), "id");
  }

  /**
   * Expects {@code caught_up}.
   *
   * @return its {@code at}
   */
  public String caughtUp(String subscription) {
    return at(next("caught_up", subscription));
  }

  /**
   * Expects the end of a subscription.
   *
   * @return its {@code at}
   */
  public String end(String subscription) {
    return at(next("end", subscription));
  }

  /** Expects an error about a subscription. */
  public void error(String subscription, String error, boolean ended) {
    JsonObject message = next("error", subscription);
    isError(message, error);
    assertThat(text(message)).contains("\"ended\":" + ended);
  }

  /** Expects an error about a message that could not be read. */
  public void error(String error) {
    isError(next("error", null), error);
  }

  private static void isError(JsonObject message, String error) {
    assertThat(SocketClient.text(message, "error")).as(text(message)).isEqualTo(error);
    assertThat(SocketClient.text(message, "reason")).isNotBlank();
  }

  /** Sends a message and expects its answer next: whatever was due before would have come first. */
  public void nothingElseComes() {
    unsubscribe("nobody");
    error("nobody", "not_found", true);
  }

  private JsonObject next(String type, String subscription) {
    JsonObject message = socket.message();
    assertThat(SocketClient.text(message, "type")).as(text(message)).isEqualTo(type);
    assertThat(SocketClient.text(message, "id")).isEqualTo(subscription);
    return message;
  }

  private static String at(JsonObject message) {
    return SocketClient.text(message, "at");
  }

  private static String text(JsonObject message) {
    JsonBuffer json = new JsonBuffer(256);
    message.writeTo(json);
    return json.toString();
  }

  @Override
  public void close() {
    socket.close();
  }
}
