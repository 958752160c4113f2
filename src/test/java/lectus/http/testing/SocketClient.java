package lectus.http.testing;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.UpgradeRejectedException;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import io.vertx.core.http.WebSocketFrame;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** A WebSocket client that a test's thread drives. */
public final class SocketClient implements AutoCloseable {
  /** How long a test waits for what must come. */
  private static final long PATIENCE_SECONDS = 50;

  private static final int LONGEST_MESSAGE = 16 << 20;

  private static final Vertx VERTX =
      Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setUseDaemonThread(true));

  /** Referenced, because it closes its sockets when it is garbage-collected. */
  private static final WebSocketClient CLIENT =
      VERTX.createWebSocketClient(
          new WebSocketClientOptions()
              .setMaxFrameSize(LONGEST_MESSAGE)
              .setMaxMessageSize(LONGEST_MESSAGE));

  private final WebSocket socket;
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final CompletableFuture<Short> closed = new CompletableFuture<>();

  private SocketClient(WebSocket socket) {
    this.socket = socket;
    socket.textMessageHandler(received::add);
    socket.closeHandler(none -> closed.complete(socket.closeStatusCode()));
  }

  /**
   * Opens a WebSocket.
   *
   * @param protocols those that the client offers
   * @throws UpgradeRejectedException as the cause, if the server refuses
   */
  public static SocketClient connect(LectusServer server, String path, String... protocols) {
    return connect(server.port(), path, protocols);
  }

  /** As {@link #connect(LectusServer, String, String...)}, to any server on this machine. */
  public static SocketClient connect(int port, String path, String... protocols) {
    return connect(options(port, path, protocols));
  }

  /**
   * As {@link #connect(int, String, String...)}, by somebody.
   *
   * @param authorization the value of the header
   */
  public static SocketClient connectAs(
      String authorization, int port, String path, String... protocols) {
    WebSocketConnectOptions options = options(port, path, protocols);
    options.addHeader("Authorization", authorization);
    return connect(options);
  }

  private static WebSocketConnectOptions options(int port, String path, String... protocols) {
    return new WebSocketConnectOptions()
        .setHost("127.0.0.1")
        .setPort(port)
        .setURI(path)
        .setSubProtocols(List.of(protocols));
  }

  private static SocketClient connect(WebSocketConnectOptions options) {
    CompletableFuture<SocketClient> opening = new CompletableFuture<>();
    // On the event loop, where no message can arrive before the handler is set.
    VERTX.runOnContext(
        none ->
            CLIENT
                .connect(options)
                .map(SocketClient::new)
                .onComplete(opening::complete, opening::completeExceptionally));
    return await(opening);
  }

  /** Returns the text beside the server's close code, once it has closed the socket. */
  public String closeReason() {
    await(closed);
    return socket.closeReason();
  }

  /** Returns the subprotocol that the server chose. */
  public String protocol() {
    return socket.subProtocol();
  }

  public SocketClient send(String json) {
    await(socket.writeTextMessage(json).toCompletionStage().toCompletableFuture());
    return this;
  }

  public SocketClient send(WebSocketFrame frame) {
    await(socket.writeFrame(frame).toCompletionStage().toCompletableFuture());
    return this;
  }

  public SocketClient sendBinary(byte[] bytes) {
    return send(WebSocketFrame.binaryFrame(Buffer.buffer(bytes), true));
  }

  /** Returns the next message, as it came. */
  public String text() {
    try {
      String text = received.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (text == null) {
        throw new AssertionError("No message came");
      }
      return text;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the next message that has arrived already; null if there is none. */
  public String poll() {
    return received.poll();
  }

  /** Returns the next message, parsed. */
  public JsonObject message() {
    return (JsonObject) JsonValue.parse(text().getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a member of the next message, which must have that type. */
  public String message(String type, String member) {
    JsonObject message = message();
    if (!type.equals(text(message, "type"))) {
      throw new AssertionError("No " + type + " but " + message);
    }
    return text(message, member);
  }

  /** Returns a string of an object; null if there is none. */
  public static String text(JsonObject object, String member) {
    return object.get(member).orElse(null) instanceof JsonString text ? text.value() : null;
  }

  /** Whether no message waits to be taken. */
  public boolean isSilent() {
    return received.isEmpty();
  }

  /** Stops reading. */
  public void pause() {
    socket.pause();
  }

  public void resume() {
    socket.resume();
  }

  /** Waits for the server's close and returns its code. */
  public int closeCode() {
    return await(closed);
  }

  public boolean isClosed() {
    return closed.isDone();
  }

  private static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  /** Closes even a paused socket at once: the server's close frame is behind unread messages. */
  @Override
  public void close() {
    socket.resume();
    if (!socket.isClosed()) {
      socket.close();
    }
    await(closed);
  }
}
