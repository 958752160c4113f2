package lectus.http.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.http.testing.Connection;

/** A feed as the body of an answer: a line for each row, or an event. */
final class AnswerClient implements FeedClient {
  private static final String HEARTBEAT_EVENT = "event: heartbeat";

  private final Connection connection;
  private String last;

  /**
   * @param query begins with the form of the feed
   */
  AnswerClient(Connection connection, String database, String query, String since) {
    this.connection = connection;
    this.last = since;
    String target = "/" + database + "/_changes?" + query + "&heartbeat=1000&since=" + since;
    connection.write("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n");
    int status = connection.readHead().status();
    if (status != 200) {
      connection.close();
      throw new NotThere(status);
    }
  }

  /** The database is being deleted and created again. */
  static final class NotThere extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotThere(int status) {
      super(Integer.toString(status));
      if (status != 404) {
        throw new AssertionError("Status " + status);
      }
    }
  }

  @Override
  public Event next() {
    String chunk = connection.chunkText();
    if (chunk.isEmpty()) {
      return Event.ended(last);
    }
    List<SeenRow> rows = new ArrayList<>();
    for (String line : chunk.split("\r?\n")) {
      String json = json(line);
      if (json.startsWith("{\"seq\"")) {
        rows.add(SeenRow.of(SeenRow.parse(json)));
        last = rows.get(rows.size() - 1).seq();
      } else if (json.contains("\"last_seq\":\"")) {
        last = json.replaceAll(".*\"last_seq\":\"([0-9a-f]+)\".*", "$1");
      }
    }
    return new Event(rows, Optional.empty());
  }

  /** Returns the JSON in a line of a continuous feed, a long poll or an event. */
  private static String json(String line) {
    String text = line.equals(HEARTBEAT_EVENT) ? "" : line.replaceFirst("^data: ", "");
    return text.endsWith(",") ? text.substring(0, text.length() - 1) : text;
  }

  @Override
  public void close() {
    connection.close();
  }
}
