package lectus.clients.replicator;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** A running {@code _changes} request, read line by line. */
final class ChangesFeed implements AutoCloseable {
  private final BufferedReader lines;

  ChangesFeed(InputStream body) {
    lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
  }

  /** The content of a feed's line. */
  sealed interface Line permits Change, LastSeq {}

  /**
   * A row.
   *
   * @param revs the leaves
   */
  record Change(String id, String seq, List<String> revs) implements Line {}

  /** The end of a feed in order. */
  record LastSeq(String seq) implements Line {}

  /** Returns the next line with content; empty at the feed's end. */
  Optional<Line> next() {
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("{\"seq\"")) {
          return Optional.of(change(line.endsWith(",") ? cut(line) : line));
        } else if (line.startsWith("{\"last_seq\"")) {
          return Optional.of(new LastSeq(new JsonObject(line).getString("last_seq")));
        } else if (line.startsWith("\"last_seq\"")) {
          return Optional.of(new LastSeq(new JsonObject('{' + line).getString("last_seq")));
        }
      }
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String cut(String line) {
    return line.substring(0, line.length() - 1);
  }

  private static Change change(String line) {
    JsonObject row = new JsonObject(line);
    JsonArray changes = row.getJsonArray("changes");
    List<String> revs =
        changes.stream().map(change -> ((JsonObject) change).getString("rev")).toList();
    return new Change(row.getString("id"), row.getString("seq"), revs);
  }

  @Override
  public void close() {
    try {
      lines.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
