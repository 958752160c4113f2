package lectus.store.embedded;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.List;
import lectus.store.embedded.SelectorResolver.Bound;
import lectus.store.embedded.engine.Cursor;
import lectus.store.embedded.engine.KeyRange;

/**
 * Fetches one chunk of a range and adds its conflict range (docs/foundationdb-contract.md, sections
 * 4 and 5).
 */
final class RangeReader {
  /** What a row adds to a chunk beside its key and value. */
  private static final int STORED_ROW_BYTES = 24;

  private static final int OWN_ROW_BYTES = 8;

  private final Attempt attempt;
  private final VisibleRows rows;
  private final byte[] keysEnd;

  RangeReader(Attempt attempt, VisibleRows rows) {
    this.attempt = attempt;
    this.rows = rows;
    keysEnd = attempt.options.readEnd();
  }

  RangeChunk read(RangeRequest request) {
    SelectorResolver resolver = new SelectorResolver(rows, keysEnd);
    Bound begin = resolver.bound(request.begin());
    Bound end = resolver.bound(request.end());
    RangeChunk chunk =
        Keys.compare(begin.key(), end.key()) < 0
            ? fetch(begin.key(), end.key(), request)
            : RangeChunk.EMPTY;
    if (!request.snapshot()) {
      KeyRange looked =
          request.reverse()
              ? lookedAtBackward(request, chunk, begin, end)
              : lookedAtForward(request, chunk, begin, end);
      attempt.addReadRange(looked.begin(), looked.end());
    }
    return chunk;
  }

  private RangeChunk fetch(byte[] begin, byte[] end, RangeRequest request) {
    List<KeyValue> found = new ArrayList<>();
    long bytes = 0;
    try (Cursor cursor = rows.scan(begin, end, request.reverse(), request.limit())) {
      MergedCursor merged = cursor instanceof MergedCursor own ? own : null;
      while (cursor.next()) {
        KeyValue row = new KeyValue(cursor.key(), cursor.value());
        found.add(row);
        int overhead = merged != null && merged.isOwn() ? OWN_ROW_BYTES : STORED_ROW_BYTES;
        bytes += row.getKey().length + row.getValue().length + overhead;
        if (found.size() == request.limit() || bytes >= request.targetBytes()) {
          return new RangeChunk(found, true);
        }
      }
    }
    return new RangeChunk(found, false);
  }

  /**
   * From base key to base key, or to the last row if the fetch was stopped; widened to what offsets
   * other than 1 walked over.
   */
  private KeyRange lookedAtForward(RangeRequest request, RangeChunk chunk, Bound begin, Bound end) {
    Position from = request.begin();
    Position to = request.end();
    boolean stopped = chunk.more() && to.offset() > 0;
    byte[] low = Keys.min(from.key(), to.key());
    byte[] high = stopped && low == from.key() ? low : Keys.max(from.key(), to.key());
    if (isOff(begin.offBegin() || end.offBegin(), from)) {
      low = Keys.FIRST;
    }
    if ((begin.offEnd() || end.offEnd()) && to.offset() > 0 && !chunk.more()) {
      high = keysEnd;
    }
    if (!chunk.rows().isEmpty()) {
      low = from.offset() <= 0 ? Keys.min(low, chunk.firstKey()) : low;
      high = behind(chunk.lastKey(), high);
    }
    return new KeyRange(low, high);
  }

  /** The same from the end, where the last row is the lowest. */
  private KeyRange lookedAtBackward(
      RangeRequest request, RangeChunk chunk, Bound begin, Bound end) {
    Position from = request.begin();
    Position to = request.end();
    boolean stopped = chunk.more() && from.offset() <= 1;
    byte[] high = Keys.max(from.key(), to.key());
    byte[] low = stopped && high == to.key() ? high : Keys.min(from.key(), to.key());
    if (isOff(begin.offBegin() || end.offBegin(), from) && !chunk.more()) {
      low = Keys.FIRST;
    }
    if ((begin.offEnd() || end.offEnd()) && to.offset() > 0) {
      high = keysEnd;
    }
    if (!chunk.rows().isEmpty()) {
      low = Keys.min(low, chunk.lastKey());
      high = to.offset() > 0 ? behind(chunk.firstKey(), high) : high;
    }
    return new KeyRange(low, high);
  }

  /** The higher one of {@code bound} and the first key behind {@code key}. */
  private static byte[] behind(byte[] key, byte[] bound) {
    return Keys.compare(bound, key) <= 0 ? Keys.after(key) : bound;
  }

  private static boolean isOff(boolean offBegin, Position from) {
    return offBegin && from.offset() <= 0;
  }
}
