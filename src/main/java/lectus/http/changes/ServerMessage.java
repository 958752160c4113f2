package lectus.http.changes;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;

/** The messages of the server in {@code lectus.changes.v1}, one text message each. */
final class ServerMessage {
  /** Of a message that carries no row. */
  private static final int TYPICAL_BYTES = 256;

  /** Of the names and punctuation around a row. */
  private static final int ROW_MEMBERS_BYTES = 64;

  private ServerMessage() {}

  /**
   * A change.
   *
   * @param json holds the row in the form of {@code _changes}, from {@code from} up to {@code to}
   */
  static JsonBuffer row(String id, String database, String at, byte[] json, int from, int to) {
    int bytes = ROW_MEMBERS_BYTES + id.length() + database.length() + at.length() + to - from;
    JsonBuffer out = new JsonBuffer(bytes).ascii("{\"type\":\"row\",\"id\":").string(id);
    out.ascii(",\"db\":").string(database);
    out.ascii(",\"at\":").string(at);
    return out.ascii(",\"row\":").raw(json, from, to).octet('}');
  }

  /** A database of the subscription was deleted; {@code at} is the position after that. */
  static JsonBuffer left(String id, String database, String at) {
    JsonBuffer out = begin("left").ascii(",\"id\":").string(id);
    out.ascii(",\"db\":").string(database);
    return out.ascii(",\"at\":").string(at).octet('}');
  }

  /** Everything up to {@code at} has been sent. */
  static JsonBuffer caughtUp(String id, String at) {
    return position("caught_up", id, at);
  }

  /** Nothing is to be sent; {@code at} is the subscription's position. */
  static JsonBuffer heartbeat(String id, String at) {
    return position("heartbeat", id, at);
  }

  /** The subscription is over; {@code at} is where another one resumes. */
  static JsonBuffer ended(String id, String at) {
    return position("end", id, at);
  }

  /**
   * A message or a subscription has failed.
   *
   * @param id empty if it is not known
   * @param ended whether the subscription of this id is over
   */
  static JsonBuffer failed(Optional<String> id, boolean ended, LectusError error) {
    JsonBuffer out = begin("error");
    id.ifPresent(known -> out.ascii(",\"id\":").string(known));
    out.ascii(",\"error\":").string(error.error());
    out.ascii(",\"reason\":").string(error.reason());
    id.ifPresent(known -> out.ascii(",\"ended\":").bool(ended));
    return out.octet('}');
  }

  private static JsonBuffer position(String type, String id, String at) {
    return begin(type).ascii(",\"id\":").string(id).ascii(",\"at\":").string(at).octet('}');
  }

  private static JsonBuffer begin(String type) {
    return new JsonBuffer(TYPICAL_BYTES).ascii("{\"type\":\"").ascii(type).octet('"');
  }
}
