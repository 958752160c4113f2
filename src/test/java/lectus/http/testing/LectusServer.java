package lectus.http.testing;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import lectus.document.DocumentLimits;
import lectus.http.CorsSettings;
import lectus.http.HttpSettings;
import lectus.http.socket.WebSocketSettings;
import lectus.server.Node;
import lectus.server.NodeSettings;
import lectus.server.PollSettings;
import lectus.server.WriteSettings;
import lectus.store.Store;

/** A whole server on a free port of the loopback address, for tests of clients. */
public final class LectusServer implements AutoCloseable {
  private final Node node;

  private LectusServer(Node node) {
    this.node = node;
  }

  /** On a store that the caller closes after the server. */
  public static LectusServer start(Store store) {
    return start(store, settings -> settings);
  }

  public static LectusServer start(Store store, UnaryOperator<NodeSettings> change) {
    return new LectusServer(Node.start(change.apply(defaults()), store));
  }

  /** A server that somebody else started. */
  public static LectusServer of(Node node) {
    return new LectusServer(node);
  }

  /** What the server runs with unless a test changes it. */
  public static NodeSettings defaults() {
    return new NodeSettings(
        "127.0.0.1",
        0,
        http(8_000, 4 << 20, noCors()),
        DocumentLimits.DEFAULT,
        new WriteSettings(2, 10_000, 64 << 20, 64, 1 << 20),
        4,
        64 << 20,
        new PollSettings(Duration.ofMillis(100), Duration.ofSeconds(2)),
        Optional.empty(),
        Duration.ofSeconds(20));
  }

  public static HttpSettings http(int maxUriLength, int maxRequestBytes, CorsSettings cors) {
    WebSocketSettings webSockets = new WebSocketSettings(256 << 10, 1_000, 30, 120);
    return new HttpSettings(
        maxRequestBytes, maxUriLength, 16_384, 300, 1_000, true, "0.0.0-test", cors, webSockets);
  }

  public static CorsSettings noCors() {
    return new CorsSettings(List.of(), false, List.of(), List.of(), 0);
  }

  public int port() {
    return node.port();
  }

  /** Without a slash at the end. */
  public String url() {
    return "http://127.0.0.1:" + port();
  }

  /**
   * @param target as the request line is to have it
   */
  public Request request(String method, String target) {
    return new Request(port(), method, target);
  }

  public Answer get(String target) {
    return request("GET", target).send();
  }

  public Answer head(String target) {
    return request("HEAD", target).send();
  }

  public Answer delete(String target) {
    return request("DELETE", target).send();
  }

  public Answer put(String target, String json) {
    return request("PUT", target).json(json).send();
  }

  public Answer put(String target) {
    return request("PUT", target).send();
  }

  public Answer post(String target, String json) {
    return request("POST", target).json(json).send();
  }

  /** The revision that writing the document gives. */
  public String write(String target, String json) {
    Answer answer = put(target, json);
    if (answer.status() != 201) {
      throw new IllegalStateException(answer.toString());
    }
    return answer.member("rev");
  }

  public Connection connect() {
    return new Connection(port());
  }

  /** Ends in order. */
  @Override
  public void close() {
    node.close();
  }
}
