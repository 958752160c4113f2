package lectus.http.soak;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import lectus.http.testing.Connection;
import lectus.http.testing.Connection.Frame;
import lectus.http.testing.Frames;
import lectus.json.JsonValue.JsonObject;

/** A feed over a WebSocket: rows as messages, or a subscription with credits. */
final class SocketFeedClient implements FeedClient {
  private static final int CREDITS = 20;
  private static final String UPGRADE =
      " HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

  private final Connection connection;
  private final boolean subscribed;
  private String last;
  private int credits = CREDITS;

  private SocketFeedClient(Connection connection, boolean subscribed, String since) {
    this.connection = connection;
    this.subscribed = subscribed;
    this.last = since;
  }

  static SocketFeedClient ofDatabase(
      Connection connection, String database, String query, String since) {
    String target = "/" + database + "/_changes?heartbeat=1000&since=" + since + query;
    open(connection, "GET " + target + UPGRADE + "\r\n");
    return new SocketFeedClient(connection, false, since);
  }

  static SocketFeedClient subscription(
      Connection connection, String database, boolean includeDocs, String since) {
    open(
        connection,
        "GET /_changes" + UPGRADE + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n\r\n");
    String request =
        "{\"type\":\"subscribe\",\"id\":\"s\",\"db\":\"%s\",\"since\":\"%s\",\"include_docs\":%s,"
            + "\"heartbeat\":1000,\"credits\":%d}";
    connection.write(Frames.text(String.format(request, database, since, includeDocs, CREDITS)));
    return new SocketFeedClient(connection, true, since);
  }

  private static void open(Connection connection, String request) {
    int status = connection.write(request).readHead().status();
    if (status != 101) {
      connection.close();
      throw new AnswerClient.NotThere(status);
    }
  }

  @Override
  public Event next() {
    Frame frame = connection.frame();
    return switch (frame.opcode()) {
      case Frames.TEXT -> message(new String(frame.payload(), StandardCharsets.UTF_8));
      case Frames.CLOSE -> Event.ended(last);
      case Frames.PING -> {
        connection.write(Frames.masked(Frames.PONG, true, frame.payload()));
        yield Event.NOTHING;
      }
      default -> throw new AssertionError("Opcode " + frame.opcode());
    };
  }

  private Event message(String text) {
    JsonObject message = SeenRow.parse(text);
    if (!subscribed) {
      return message.get("seq").isPresent() ? row(message) : lastSequence(message);
    }
    return switch (SeenRow.text(message, "type")) {
      case "row" -> {
        grant();
        yield row((JsonObject) message.get("row").orElseThrow());
      }
      case "end" -> Event.ended(SeenRow.text(message, "at"));
      case "error" -> notThere(message);
      default -> Event.NOTHING;
    };
  }

  private Event row(JsonObject json) {
    SeenRow row = SeenRow.of(json);
    last = row.seq();
    return new Event(List.of(row), Optional.empty());
  }

  private Event lastSequence(JsonObject message) {
    last = SeenRow.text(message, "last_seq");
    return Event.NOTHING;
  }

  private void grant() {
    credits--;
    if (credits == 0) {
      credits = CREDITS;
      connection.write(Frames.text("{\"type\":\"credit\",\"id\":\"s\",\"n\":" + CREDITS + "}"));
    }
  }

  private Event notThere(JsonObject message) {
    if (!SeenRow.text(message, "error").equals("not_found")) {
      throw new AssertionError(message);
    }
    return Event.ended(last);
  }

  @Override
  public void close() {
    connection.close();
  }
}
