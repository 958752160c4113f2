package lectus.http.changes;

import io.vertx.core.buffer.Buffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedText;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.http.Headers;
import lectus.json.JsonBuffer;

/** The forms of a live feed as the body of an HTTP answer, byte for byte CouchDB's. */
enum FeedForm {
  /** An object with an array of rows, which ends once there are some. */
  LONGPOLL {
    @Override
    boolean isOneAnswer() {
      return true;
    }

    @Override
    void appendHead(JsonBuffer out) {
      FeedText.appendHead(out);
    }

    @Override
    void appendRows(Rows<?> rows, int from, int to, boolean first, JsonBuffer out) {
      for (int row = from; row < to; row++) {
        if (row > from || !first) {
          FeedText.appendSeparator(out);
        }
        out.raw(rows.json(), rows.start(row), rows.end(row));
      }
    }

    @Override
    void appendEnd(FeedEnd reason, ResumePoint<?> at, long pending, JsonBuffer out) {
      FeedText.appendTail(at, pending, Optional.of(reason), out);
    }
  },

  /** A line for each row, and a last one. */
  CONTINUOUS {
    @Override
    void appendRows(Rows<?> rows, int from, int to, boolean first, JsonBuffer out) {
      for (int row = from; row < to; row++) {
        out.raw(rows.json(), rows.start(row), rows.end(row)).octet('\n');
      }
    }

    @Override
    void appendEnd(FeedEnd reason, ResumePoint<?> at, long pending, JsonBuffer out) {
      FeedText.appendLastLine(at, pending, reason, out);
    }
  },

  /** An event for each row; its id is the sequence from which the browser resumes. */
  EVENTSOURCE {
    @Override
    CharSequence contentType() {
      return Headers.EVENT_STREAM;
    }

    @Override
    void appendRows(Rows<?> rows, int from, int to, boolean first, JsonBuffer out) {
      for (int row = from; row < to; row++) {
        out.ascii("data: ").raw(rows.json(), rows.start(row), rows.end(row));
        out.ascii("\nid: ").string(rows.at(row).text()).ascii("\n\n");
      }
    }

    /** The id advances past rows that a filter held back, so that they are not read again. */
    @Override
    void appendHeartbeat(ResumePoint<?> at, JsonBuffer out) {
      out.ascii("event: heartbeat\ndata: \nid: ").string(at.text()).ascii("\n\n");
    }

    /**
     * Browsers reconnect by themselves, whatever they are told. Readers of a replaced shard must
     * not: the id lets the server recognize them and turn them away for good. A client that may not
     * read any more is refused when it comes again, and stops at that. One whose filter has failed
     * comes again.
     */
    @Override
    void appendEnd(FeedEnd reason, ResumePoint<?> at, long pending, JsonBuffer out) {
      if (reason instanceof FeedEnd.Resharded) {
        FeedText.appendLastLine(at, pending, reason, out.ascii("data: "));
        out.ascii("id: ").string(at.text()).ascii("\n\n");
      } else if (reason.error().isPresent()) {
        out.ascii("event: error\n");
        FeedText.appendLastLine(at, pending, reason, out.ascii("data: "));
        out.octet('\n');
      }
    }
  };

  /** The most bytes that surround a row in any form. */
  private static final int FRAME_BYTES = 100;

  CharSequence contentType() {
    return Headers.JSON;
  }

  /** Whether the feed ends with the first rows that nothing follows. */
  boolean isOneAnswer() {
    return false;
  }

  void appendHead(JsonBuffer out) {}

  /**
   * @param first whether no row was sent before
   */
  abstract void appendRows(Rows<?> rows, int from, int to, boolean first, JsonBuffer out);

  /**
   * @param at the position up to which rows were looked at
   */
  void appendHeartbeat(ResumePoint<?> at, JsonBuffer out) {
    out.octet('\n');
  }

  abstract void appendEnd(FeedEnd reason, ResumePoint<?> at, long pending, JsonBuffer out);

  JsonBuffer text(Rows<?> rows, int from, int to, boolean first) {
    JsonBuffer out = new JsonBuffer(rows.bytes(from, to) + FRAME_BYTES * (to - from));
    appendRows(rows, from, to, first, out);
    return out;
  }

  /**
   * Rows in every form, formatted once for all consecutive listeners that get the same: the last
   * bytes are kept, unless they are of a long page. For one event loop.
   */
  static final class Framed {
    private final Map<FeedForm, Kept> last = new EnumMap<>(FeedForm.class);

    private record Kept(Rows<?> rows, int from, int to, boolean first, Buffer bytes) {}

    /**
     * Returns the rows from {@code from} up to {@code to}. The buffer is shared and must not be
     * changed.
     *
     * @param first whether the listener has received no row before
     */
    Buffer bytes(FeedForm form, Rows<?> rows, int from, int to, boolean first) {
      Kept kept = last.get(form);
      if (kept != null
          && kept.rows == rows
          && kept.from == from
          && kept.to == to
          && kept.first == first) {
        return kept.bytes;
      }
      Buffer bytes = Buffer.buffer(form.text(rows, from, to, first).toBytes());
      if (!rows.areLong()) {
        last.put(form, new Kept(rows, from, to, first, bytes));
      }
      return bytes;
    }
  }
}
