package lectus.http.socket;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;

/** What the server says in {@code lectus.changes.v1}: one text message each. */
sealed interface ServerMessage {
  /** Writes the message as one JSON object. */
  void writeTo(JsonBuffer out);

  /** About how many bytes that will be. */
  default int sizeHint() {
    return 256;
  }

  /**
   * A change.
   *
   * @param json holds the row as {@code _changes} has it, from {@code from} up to {@code to}
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
      return 64 + id.length() + database.length() + at.length() + to - from;
    }
  }

  /** Everything there was up to {@code at} has been sent. */
  record CaughtUp(String id, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"caught_up\",\"id\":").string(id);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }

  /** There is nothing to send; {@code at} is where the subscription stands. */
  record Heartbeat(String id, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"heartbeat\",\"id\":").string(id);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }

  /** A database of the subscription was deleted; {@code at} is behind that. */
  record Left(String id, String database, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"left\",\"id\":").string(id);
      out.ascii(",\"db\":").string(database);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }

  /**
   * Something went wrong with a message or a subscription.
   *
   * @param id empty if that is not known
   * @param ended whether there is no subscription of this id any more
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

  /** The subscription is over; {@code at} is where another one would go on. */
  record Ended(String id, String at) implements ServerMessage {
    @Override
    public void writeTo(JsonBuffer out) {
      out.ascii("{\"type\":\"end\",\"id\":").string(id);
      out.ascii(",\"at\":").string(at).octet('}');
    }
  }
}
