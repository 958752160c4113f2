package lectus.http.socket;

import java.util.Optional;
import lectus.error.LectusError;

/** What a client of {@code lectus.changes.v1} says: one text message each. */
public sealed interface ClientMessage {

  /**
   * {@code {"type":"subscribe",…}}.
   *
   * @param id the client's name for the subscription, which every message about it carries
   */
  record Subscribe(String id, Scope scope, Terms terms) implements ClientMessage {}

  /**
   * {@code {"type":"credit","id":"a","n":500}}: the client takes so many more rows.
   *
   * @param rows 1 to {@link Credits#MOST}
   */
  record Credit(String id, long rows) implements ClientMessage {}

  /** {@code {"type":"unsubscribe","id":"a"}}. */
  record Unsubscribe(String id) implements ClientMessage {}

  /**
   * A message that is none of these.
   *
   * @param id of the subscription it was about, if that could be read
   */
  record Malformed(Optional<String> id, LectusError error) implements ClientMessage {}
}
