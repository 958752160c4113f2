package lectus.store.embedded;

/** The rest of a range after the chunks fetched so far. */
final class RangeCursor {
  private final boolean reverse;
  private final boolean limited;
  private Position from;
  private Position to;
  private int left;

  RangeCursor(RangeQuery query, Position from, Position to, int left) {
    reverse = query.reverse();
    limited = query.limit() != 0;
    this.from = from;
    this.to = to;
    this.left = left;
  }

  Position from() {
    return from;
  }

  Position to() {
    return to;
  }

  /** Returns the maximum number of rows left; 0 means no limit. */
  int left() {
    return left;
  }

  /** Advances past a chunk. Returns false if it was the last. */
  boolean advance(RangeChunk chunk) {
    if (!chunk.more()) {
      return false;
    }
    byte[] last = chunk.lastKey();
    if (reverse) {
      to = Position.at(last);
    } else {
      from = Position.behind(last);
    }
    if (limited) {
      left -= chunk.rows().size();
    }
    return !(limited && left < 1);
  }
}
