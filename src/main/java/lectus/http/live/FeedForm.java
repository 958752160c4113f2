package lectus.http.live;

import java.util.Optional;
import lectus.feed.FeedEnd;
import lectus.feed.FeedText;
import lectus.feed.ResumePoint;
import lectus.feed.Rows;
import lectus.http.message.Headers;
import lectus.json.JsonBuffer;

/** The forms of a live feed that are the body of an HTTP answer, byte for byte CouchDB's. */
enum FeedForm {
  /** An object with an array of rows, which ends when there are some. */
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

  /** An event for each row, with the sequence from which the browser goes on as its id. */
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

    /** The id moves on past rows that a filter held back, so that they are not looked at again. */
    @Override
    void appendHeartbeat(ResumePoint<?> at, JsonBuffer out) {
      out.ascii("event: heartbeat\ndata: \nid: ").string(at.text()).ascii("\n\n");
    }

    /**
     * Browsers come again by themselves, whatever they are told. A shard's readers must not: the id
     * lets the server know them again, and send them away for good.
     */
    @Override
    void appendEnd(FeedEnd reason, ResumePoint<?> at, long pending, JsonBuffer out) {
      if (reason instanceof FeedEnd.Resharded) {
        FeedText.appendLastLine(at, pending, reason, out.ascii("data: "));
        out.ascii("id: ").string(at.text()).ascii("\n\n");
      }
    }
  };

  CharSequence contentType() {
    return Headers.JSON;
  }

  /** Whether the feed ends with the first rows behind which nothing follows. */
  boolean isOneAnswer() {
    return false;
  }

  void appendHead(JsonBuffer out) {}

  /**
   * @param first whether no row was sent before
   */
  abstract void appendRows(Rows<?> rows, int from, int to, boolean first, JsonBuffer out);

  /**
   * @param at how far was looked
   */
  void appendHeartbeat(ResumePoint<?> at, JsonBuffer out) {
    out.octet('\n');
  }

  abstract void appendEnd(FeedEnd reason, ResumePoint<?> at, long pending, JsonBuffer out);
}
