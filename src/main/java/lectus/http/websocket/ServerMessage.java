package lectus.http.websocket;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;

/** The messages of the server in {@code lectus.changes.v1}, one text message each. */
sealed interface ServerMessage {
  /** Of a message that carries no row. */
  int TYPICAL_BYTES = 256;

  /** Of the names and punctuation around a row. */
  int ROW_MEMBERS_BYTES = 64;

  /** Writes the message as one JSON object. */
  void writeTo(JsonBuffer out);

  /** Returns the approximate length of the message, in bytes. */
  default int sizeHint() {
    return TYPICAL_BYTES;
  }

  /**
   * A change.
   *
   * @param json holds the row in the form of {@code _changes}, from {@code from} up to {@code to}
   */
  record Row(String id, String database, String at, byte[] json, int from, int to)
      implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"row\",\"id\":").string(id);
      out.ascii(",\"db\":").string(database);
      out.ascii(",\"at\":").string(at);
      out.ascii(",\"row\":").raw(json, from, to).octet('}');
    }

    @Override
    public int sizeHint() {
      return ROW_MEMBERS_BYTES + id.length() + database.length() + at.length() + to - from;
    }
  }

  /** Everything up to {@code at} has been sent. */
  record CaughtUp(String id, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"caught_up\",\"id\":").string(id);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }

  /** Nothing is to be sent; {@code at} is the subscription's position. */
  record Heartbeat(String id, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"heartbeat\",\"id\":").string(id);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }

  /** A database of the subscription was deleted; {@code at} is the position after that. */
  record Left(String id, String database, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"left\",\"id\":").string(id);
      out.ascii(",\"db\":").string(database);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }

  /**
   * A message or a subscription has failed.
   *
   * @param id empty if it is not known
   * @param ended whether the subscription of this id is over
   */
  record Failed(Optional<String> id, boolean ended, LectusError error) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"error\"");
      id.ifPresent(known -> out.ascii(",\"id\":").string(known));
      out.ascii(",\"error\":").string(error.error());
      out.ascii(",\"reason\":").string(error.reason());
      id.ifPresent(known -> out.ascii(",\"ended\":").bool(ended));
      out.octet('}');
    }
  }

  /** The subscription is over; {@code at} is where another one resumes. */
  record Ended(String id, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"end\",\"id\":").string(id);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }
}
