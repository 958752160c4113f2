package lectus.store.embedded;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.List;
import lectus.store.embedded.SelectorResolver.Bound;
import lectus.store.embedded.engine.conflict.KeyRange;
import lectus.store.embedded.engine.read.Cursor;

/**
 * Fetches one chunk of a range and adds its conflict range (docs/foundationdb-contract.md, sections
 * 4 and 5).
 */
final class RangeReader {
  /** What a row adds to a chunk besides its key and value. */
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
        KeySpace.compare(begin.key(), end.key()) < 0
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
   * Returns the range between the base keys, cut at the last row if a limit ended the fetch, and
   * widened by what offsets other than 1 walked over.
   */
  private KeyRange lookedAtForward(RangeRequest request, RangeChunk chunk, Bound begin, Bound end) {
    Position from = request.begin();
    Position to = request.end();
    boolean stopped = chunk.more() && to.offset() > 0;
    byte[] low = KeySpace.min(from.key(), to.key());
    byte[] high = stopped && low == from.key() ? low : KeySpace.max(from.key(), to.key());
    if (isOff(begin.offBegin() || end.offBegin(), from)) {
      low = KeySpace.FIRST;
    }
    if ((begin.offEnd() || end.offEnd()) && to.offset() > 0 && !chunk.more()) {
      high = keysEnd;
    }
    if (!chunk.rows().isEmpty()) {
      low = from.offset() <= 0 ? KeySpace.min(low, chunk.firstKey()) : low;
      high = behind(chunk.lastKey(), high);
    }
    return new KeyRange(low, high);
  }

  /** Like {@link #lookedAtForward}, from the end: the last row is the lowest. */
  private KeyRange lookedAtBackward(
      RangeRequest request, RangeChunk chunk, Bound begin, Bound end) {
    Position from = request.begin();
    Position to = request.end();
    boolean stopped = chunk.more() && from.offset() <= 1;
    byte[] high = KeySpace.max(from.key(), to.key());
    byte[] low = stopped && high == to.key() ? high : KeySpace.min(from.key(), to.key());
    if (isOff(begin.offBegin() || end.offBegin(), from) && !chunk.more()) {
      low = KeySpace.FIRST;
    }
    if ((begin.offEnd() || end.offEnd()) && to.offset() > 0) {
      high = keysEnd;
    }
    if (!chunk.rows().isEmpty()) {
      low = KeySpace.min(low, chunk.lastKey());
      high = to.offset() > 0 ? behind(chunk.firstKey(), high) : high;
    }
    return new KeyRange(low, high);
  }

  /** Returns the higher of {@code bound} and the first key after {@code key}. */
  private static byte[] behind(byte[] key, byte[] bound) {
    return KeySpace.compare(bound, key) <= 0 ? KeySpace.after(key) : bound;
  }

  private static boolean isOff(boolean offBegin, Position from) {
    return offBegin && from.offset() <= 0;
  }
}
