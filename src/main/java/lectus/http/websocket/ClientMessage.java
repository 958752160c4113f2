package lectus.http.websocket;

import java.util.Optional;
import lectus.error.LectusError;

/** The messages of a client in {@code lectus.changes.v1}, one text message each. */
public sealed interface ClientMessage {

  /**
   * {@code {"type":"subscribe",…}}.
   *
   * @param id the client's name for the subscription, which every message about it repeats
   */
  record Subscribe(String id, Scope scope, Terms terms) implements ClientMessage {}

  /**
   * {@code {"type":"credit","id":"a","n":500}}: the client accepts so many more rows.
   *
   * @param rows 1 to {@link Credits#MOST}
   */
  record Credit(String id, long rows) implements ClientMessage {}

  /** {@code {"type":"unsubscribe","id":"a"}}. */
  record Unsubscribe(String id) implements ClientMessage {}

  /**
   * Any other message.
   *
   * @param id of the subscription that it concerns, if that could be read
   */
  record Malformed(Optional<String> id, LectusError error) implements ClientMessage {}
}
