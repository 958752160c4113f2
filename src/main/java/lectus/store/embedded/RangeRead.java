package lectus.store.embedded;

import com.apple.foundationdb.KeyArrayResult;
import com.apple.foundationdb.KeyRangeArrayResult;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MappedKeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.error.FoundationDbError;
import lectus.store.embedded.OwnWrites.KeyState;
import lectus.store.embedded.OwnWrites.WriteMap;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.StoreSnapshot;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;

/**
 * A range to be read in chunks, so that no range has to fit in memory.
 *
 * @param limit maximum number of rows; 0 for no limit
 */
record RangeRead(
    EmbeddedTransaction transaction,
    Position begin,
    Position end,
    int limit,
    boolean reverse,
    StreamingMode mode,
    boolean snapshot)
    implements AsyncIterable<KeyValue> {

  /** The largest size that a reply of a cluster's storage server aims at. */
  private static final int WIRE_BYTES = 80_000;

  private static final int SMALL_BYTES = 256;
  private static final int MEDIUM_BYTES = 1_000;
  private static final int LARGE_BYTES = 4_096;

  /**
   * The sizes that mode ITERATOR aims at in its first fetches, each half as much again as the
   * previous.
   */
  private static final int[] ITERATOR_BYTES = {
    4_096, 6_144, 9_216, 13_824, 20_736, 31_104, 46_656, 69_984, WIRE_BYTES
  };

  static RangeRead of(
      EmbeddedTransaction transaction,
      KeySelector begin,
      KeySelector end,
      int limit,
      boolean reverse,
      StreamingMode mode,
      boolean snapshot) {
    return new RangeRead(
        transaction, Position.of(begin), Position.of(end), limit, reverse, mode, snapshot);
  }

  @Override
  public AsyncIterator<KeyValue> iterator() {
    return new RangeIterator(this);
  }

  @Override
  public CompletableFuture<List<KeyValue>> asList() {
    if (mode == StreamingMode.ITERATOR) {
      return with(limit == 0 ? StreamingMode.WANT_ALL : StreamingMode.EXACT).asList();
    }
    if (mode == StreamingMode.EXACT) {
      return fetch(begin, end, limit, 1).thenApply(RangeChunk::rows);
    }
    return collect(new ArrayList<>(), begin, end, limit, 1);
  }

  private RangeRead with(StreamingMode other) {
    return new RangeRead(transaction, begin, end, limit, reverse, other, snapshot);
  }

  private CompletableFuture<List<KeyValue>> collect(
      List<KeyValue> rows, Position from, Position to, int left, int iteration) {
    RangeCursor cursor = new RangeCursor(this, from, to, left);
    int fetches = iteration;
    while (true) {
      CompletableFuture<RangeChunk> fetch =
          fetch(cursor.from(), cursor.to(), cursor.left(), fetches);
      if (!fetch.isDone() || fetch.isCompletedExceptionally()) {
        int next = fetches + 1;
        return fetch.thenCompose(
            chunk ->
                take(chunk, rows, cursor)
                    ? collect(rows, cursor.from(), cursor.to(), cursor.left(), next)
                    : CompletableFuture.completedFuture(rows));
      }
      if (!take(fetch.join(), rows, cursor)) {
        return CompletableFuture.completedFuture(rows);
      }
      fetches++;
    }
  }

  private static boolean take(RangeChunk chunk, List<KeyValue> rows, RangeCursor cursor) {
    rows.addAll(chunk.rows());
    return cursor.advance(chunk);
  }

  /**
   * Fetches a chunk.
   *
   * @param left maximum number of rows; 0 for no limit
   * @param iteration the number of this fetch, from 1
   */
  CompletableFuture<RangeChunk> fetch(Position from, Position to, int left, int iteration) {
    int rows = left == 0 ? RangeRequest.UNLIMITED : left;
    return transaction
        .reads()
        .getRange(new RangeRequest(from, to, rows, targetBytes(iteration), reverse, snapshot));
  }

  private int targetBytes(int iteration) {
    return switch (mode) {
      case EXACT -> Integer.MAX_VALUE;
      case SMALL -> SMALL_BYTES;
      case MEDIUM -> MEDIUM_BYTES;
      case LARGE -> LARGE_BYTES;
      case ITERATOR -> ITERATOR_BYTES[Math.min(iteration, ITERATOR_BYTES.length) - 1];
      case SERIAL, WANT_ALL -> WIRE_BYTES;
    };
  }

  /**
   * Walks a range chunk by chunk. The first chunk is fetched immediately. Each later one is fetched
   * when the first row of the previous chunk is taken, as fdb-java does: its conflict range counts
   * even if none of its rows is used. One thread may use it at a time; any thread may cancel it.
   */
  private static final class RangeIterator implements AsyncIterator<KeyValue> {
    private final RangeRead query;
    private final RangeCursor cursor;
    private int fetches;
    private volatile CompletableFuture<RangeChunk> fetch;
    private List<KeyValue> rows = List.of();
    private int taken;
    private boolean isLastChunk;
    private byte[] lastKey;
    private volatile boolean cancelled;

    RangeIterator(RangeRead query) {
      this.query = query;
      cursor = new RangeCursor(query, query.begin(), query.end(), query.limit());
      startFetch();
    }

    private void startFetch() {
      fetches++;
      fetch = query.fetch(cursor.from(), cursor.to(), cursor.left(), fetches);
    }

    @Override
    public CompletableFuture<Boolean> onHasNext() {
      checkNotCancelled();
      if (taken < rows.size()) {
        return CompletableFuture.completedFuture(true);
      }
      if (isLastChunk) {
        return CompletableFuture.completedFuture(false);
      }
      return fetch.thenApply(chunk -> !chunk.rows().isEmpty());
    }

    @Override
    public boolean hasNext() {
      checkNotCancelled();
      if (taken < rows.size()) {
        return true;
      }
      return !isLastChunk && !fetch.join().rows().isEmpty();
    }

    @Override
    public KeyValue next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (taken == rows.size()) {
        take(fetch.join());
      }
      KeyValue row = rows.get(taken++);
      lastKey = row.getKey();
      return row;
    }

    private void take(RangeChunk chunk) {
      rows = chunk.rows();
      taken = 0;
      isLastChunk = !cursor.advance(chunk);
      if (!isLastChunk) {
        startFetch();
      }
    }

    /** Clears the key of the row taken last. */
    @Override
    public void remove() {
      if (lastKey == null) {
        throw new IllegalStateException("No row has been taken yet");
      }
      query.transaction().clear(lastKey);
    }

    @Override
    public void cancel() {
      cancelled = true;
      fetch.cancel(true);
    }

    private void checkNotCancelled() {
      if (cancelled) {
        throw new CancellationException();
      }
    }
  }

  /** The rest of a range after the chunks fetched so far. */
  static final class RangeCursor {
    private final boolean reverse;
    private final boolean limited;
    private Position from;
    private Position to;
    private int left;

    RangeCursor(RangeRead query, Position from, Position to, int left) {
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

  /**
   * One fetch of a range.
   *
   * @param limit maximum number of rows; {@link #UNLIMITED} for no limit
   * @param targetBytes the fetch ends with the row that reaches it; {@link Integer#MAX_VALUE} for
   *     none
   */
  record RangeRequest(
      Position begin, Position end, int limit, int targetBytes, boolean reverse, boolean snapshot) {
    static final int UNLIMITED = -1;

    boolean isExactWithoutLimit() {
      return limit == UNLIMITED && targetBytes == Integer.MAX_VALUE;
    }

    boolean isSpecial() {
      return KeySpace.isSpecial(begin.base())
          && Arrays.compareUnsigned(end.base(), KeySpace.SYSTEM_END) >= 0;
    }

    /**
     * @throws com.apple.foundationdb.FDBException 2004 for a bound after {@code keysEnd}, 2012 for
     *     a negative limit
     */
    void check(byte[] keysEnd) {
      if (Arrays.compareUnsigned(begin.base(), keysEnd) > 0
          || Arrays.compareUnsigned(end.base(), keysEnd) > 0) {
        throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
      }
      if (limit < UNLIMITED) {
        throw FoundationDbError.RANGE_LIMITS_INVALID.exception();
      }
    }

    /**
     * Returns whether the range is empty whatever the store holds. Such a read conflicts with
     * nothing.
     */
    boolean isInverted() {
      return begin.offset() >= end.offset() && Arrays.compareUnsigned(begin.key(), end.key()) >= 0;
    }
  }

  /**
   * Consecutive rows of a range.
   *
   * @param more whether the row limit or the size limit ended the fetch
   */
  record RangeChunk(List<KeyValue> rows, boolean more) {
    static final RangeChunk EMPTY = new RangeChunk(List.of(), false);

    /** Returns a copy: rows belong to the caller, who may modify their arrays. */
    byte[] firstKey() {
      return rows.get(0).getKey().clone();
    }

    /** Returns a copy, as {@link #firstKey} does. */
    byte[] lastKey() {
      return rows.get(rows.size() - 1).getKey().clone();
    }
  }

  /**
   * A key selector without orEqual. Of the visible keys at or after {@code key}, it selects the one
   * {@code offset} − 1 places on (0 is the last key before it).
   *
   * @param base the selector's key
   * @param key the base, or the first key after it if the selector had orEqual
   */
  record Position(byte[] base, byte[] key, int offset) {
    static final int FIRST_AT_OR_BEHIND = 1;

    static Position of(KeySelector selector) {
      byte[] base = selector.getKey();
      return new Position(
          base, selector.orEqual() ? KeySpace.after(base) : base, selector.getOffset());
    }

    static Position at(byte[] key) {
      return new Position(key, key, FIRST_AT_OR_BEHIND);
    }

    static Position behind(byte[] key) {
      return new Position(key, KeySpace.after(key), FIRST_AT_OR_BEHIND);
    }
  }

  /**
   * Walks the stored rows of a range merged with the transaction's own writes. Fails with 1036 on
   * reaching an unreadable range. Skips wide clears, so a cleared range costs one seek however many
   * rows it holds.
   */
  static final class MergedCursor implements Cursor {
    private final StoreSnapshot snapshot;
    private final WriteMap writes;
    private final byte[] begin;
    private final byte[] end;
    private final boolean reverse;

    private final Iterator<Map.Entry<byte[], KeyState>> ownRows;
    private final Iterator<Map.Entry<byte[], byte[]>> clears;

    /** The near side of the nearest unreadable range, or null. */
    private final byte[] unreadable;

    private Map.Entry<byte[], KeyState> own;
    private Cursor stored;
    private byte[] storedKey;

    /** The end of the stored rows opened so far, in the direction of the walk. */
    private byte[] opened;

    private boolean hasNarrowClears;
    private boolean ownIsDone;
    private boolean storedIsDone;

    private byte[] key;

    /** The current row's value if it is an own write, otherwise null. */
    private byte[] ownValue;

    MergedCursor(
        StoreSnapshot snapshot, WriteMap writes, byte[] begin, byte[] end, boolean reverse) {
      this.snapshot = snapshot;
      this.writes = writes;
      this.begin = begin;
      this.end = end;
      this.reverse = reverse;
      ownRows = inOrder(writes.states(begin, end));
      clears = inOrder(writes.cleared.intersecting(begin, end));
      unreadable = nearestUnreadable();
      opened = reverse ? end : begin;
      ownIsDone = true;
      storedIsDone = true;
    }

    private <V> Iterator<Map.Entry<byte[], V>> inOrder(NavigableMap<byte[], V> map) {
      return (reverse ? map.descendingMap() : map).entrySet().iterator();
    }

    private byte[] nearestUnreadable() {
      var places = writes.unreadable.intersecting(begin, end);
      if (places.isEmpty()) {
        return null;
      }
      return reverse ? places.lastEntry().getValue() : places.firstKey();
    }

    @Override
    public boolean next() {
      while (true) {
        stepOwn();
        stepStored();
        if (own == null && storedKey == null) {
          checkReadable(null);
          return false;
        }
        int order = order();
        key = order <= 0 ? own.getKey() : storedKey;
        checkReadable(key);
        ownIsDone = order <= 0;
        storedIsDone = order >= 0;
        if (order > 0) {
          ownValue = null;
          return true;
        }
        ownValue = valueOfOwn(order == 0);
        if (ownValue != null) {
          return true;
        }
      }
    }

    /**
     * Returns a negative number if the own row comes first, positive if the stored row does, 0 for
     * the same key.
     */
    private int order() {
      if (own == null) {
        return 1;
      }
      if (storedKey == null) {
        return -1;
      }
      int order = Arrays.compareUnsigned(own.getKey(), storedKey);
      return reverse ? -order : order;
    }

    private byte[] valueOfOwn(boolean isStored) {
      KeyState state = own.getValue();
      if (state.isUnreadable()) {
        throw FoundationDbError.ACCESSED_UNREADABLE.exception();
      }
      return state.over(isStored && state.isDependent() ? stored.value() : null);
    }

    private void checkReadable(byte[] reached) {
      if (unreadable == null) {
        return;
      }
      boolean stepsIn =
          reached == null
              || (reverse
                  ? Arrays.compareUnsigned(reached, unreadable) < 0
                  : Arrays.compareUnsigned(reached, unreadable) >= 0);
      if (stepsIn) {
        throw FoundationDbError.ACCESSED_UNREADABLE.exception();
      }
    }

    private void stepOwn() {
      if (ownIsDone) {
        own = ownRows.hasNext() ? ownRows.next() : null;
        ownIsDone = false;
      }
    }

    private void stepStored() {
      if (!storedIsDone) {
        return;
      }
      storedIsDone = false;
      storedKey = null;
      while (stored != null || openNextGap()) {
        while (stored.next()) {
          byte[] candidate = stored.key();
          if (!hasNarrowClears || !writes.isCleared(candidate)) {
            storedKey = candidate;
            return;
          }
        }
        stored.close();
        stored = null;
      }
    }

    /** Opens the stored rows up to the next wide clear. */
    private boolean openNextGap() {
      while (Arrays.compareUnsigned(reverse ? begin : opened, reverse ? opened : end) < 0) {
        byte[] from = reverse ? begin : opened;
        byte[] to = reverse ? opened : end;
        opened = reverse ? begin : end;
        Map.Entry<byte[], byte[]> clear = nextWideClear();
        if (clear != null && reverse) {
          opened = clear.getKey();
          from = KeySpace.max(from, KeySpace.min(clear.getValue(), to));
        } else if (clear != null) {
          opened = clear.getValue();
          to = KeySpace.min(to, KeySpace.max(clear.getKey(), from));
        }
        if (Arrays.compareUnsigned(from, to) < 0) {
          stored = snapshot.scan(from, to, reverse, 1);
          return true;
        }
      }
      return false;
    }

    private Map.Entry<byte[], byte[]> nextWideClear() {
      while (clears.hasNext()) {
        Map.Entry<byte[], byte[]> clear = clears.next();
        if (!KeySpace.isSingle(clear.getKey(), clear.getValue())) {
          return clear;
        }
        hasNarrowClears = true;
      }
      return null;
    }

    /** Returns whether the current row is an own write. */
    boolean isOwn() {
      return ownValue != null;
    }

    @Override
    public byte[] key() {
      return ownValue == null ? key : key.clone();
    }

    @Override
    public byte[] value() {
      return ownValue == null ? stored.value() : ownValue.clone();
    }

    @Override
    public void close() {
      if (stored != null) {
        stored.close();
        stored = null;
      }
    }
  }

  /**
   * Fetches one chunk of a range and adds its conflict range (docs/foundationdb-contract.md,
   * sections 4 and 5).
   */
  static final class RangeReader {
    /** What a row adds to a chunk besides its key and value. */
    private static final int STORED_ROW_BYTES = 24;

    private static final int OWN_ROW_BYTES = 8;

    private final Attempt attempt;
    private final VisibleRows rows;
    private final byte[] keysEnd;

    RangeReader(Attempt attempt, VisibleRows rows) {
      this.attempt = attempt;
      this.rows = rows;
      keysEnd = attempt.options.readEnd;
    }

    RangeChunk read(RangeRequest request) {
      SelectorResolver resolver = new SelectorResolver(rows, keysEnd);
      SelectorResolver.Bound begin = resolver.bound(request.begin());
      SelectorResolver.Bound end = resolver.bound(request.end());
      RangeChunk chunk =
          Arrays.compareUnsigned(begin.key(), end.key()) < 0
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
      int limit = request.limit();
      long targetBytes = request.targetBytes();
      long bytes = 0;
      try (Cursor cursor = rows.scan(begin, end, request.reverse(), limit)) {
        MergedCursor merged = cursor instanceof MergedCursor own ? own : null;
        while (cursor.next()) {
          KeyValue row = new KeyValue(cursor.key(), cursor.value());
          found.add(row);
          int overhead = merged != null && merged.isOwn() ? OWN_ROW_BYTES : STORED_ROW_BYTES;
          bytes += row.getKey().length + row.getValue().length + overhead;
          if (found.size() == limit || bytes >= targetBytes) {
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
    private KeyRange lookedAtForward(
        RangeRequest request,
        RangeChunk chunk,
        SelectorResolver.Bound begin,
        SelectorResolver.Bound end) {
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
        RangeRequest request,
        RangeChunk chunk,
        SelectorResolver.Bound begin,
        SelectorResolver.Bound end) {
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
      return Arrays.compareUnsigned(bound, key) <= 0 ? KeySpace.after(key) : bound;
    }

    private static boolean isOff(boolean offBegin, Position from) {
      return offBegin && from.offset() <= 0;
    }
  }

  /** Resolves key selectors over stored and own rows (docs/foundationdb-contract.md, section 4). */
  record SelectorResolver(VisibleRows rows, byte[] keysEnd) {

    /**
     * @param offBegin whether the selector points before the first key; {@code key} is then ""
     * @param offEnd whether it points after the last; {@code key} is then the end of the key space
     */
    record Bound(byte[] key, boolean offBegin, boolean offEnd) {}

    /** Returns the key at a position, or "" or the end of the key space if there is none. */
    byte[] keyAt(Position position) {
      return position.offset() > 0
          ? walk(position.key(), keysEnd, false, position.offset()).key()
          : walk(KeySpace.FIRST, position.key(), true, 1 - position.offset()).key();
    }

    /**
     * Resolves a range's bound. Like {@link #keyAt}, but reads nothing if the key itself will do.
     */
    Bound bound(Position position) {
      if (position.offset() == Position.FIRST_AT_OR_BEHIND) {
        return new Bound(KeySpace.min(position.key(), keysEnd), false, false);
      }
      return position.offset() > 0
          ? walk(position.key(), keysEnd, false, position.offset())
          : walk(KeySpace.FIRST, position.key(), true, 1 - position.offset());
    }

    private Bound walk(byte[] begin, byte[] end, boolean reverse, int steps) {
      try (Cursor cursor = rows.scan(begin, KeySpace.min(end, keysEnd), reverse, steps)) {
        for (int i = 1; cursor.next(); i++) {
          if (i == steps) {
            return new Bound(cursor.key(), false, false);
          }
        }
      }
      return reverse ? new Bound(KeySpace.FIRST, true, false) : new Bound(keysEnd, false, true);
    }
  }

  /**
   * The rows that a read sees: the stored rows under the transaction's own writes.
   *
   * @param own the own writes, or null if the read does not see them
   */
  record VisibleRows(StoreSnapshot snapshot, WriteMap own) {

    /**
     * @param limit the most rows that the caller takes; negative for all
     */
    Cursor scan(byte[] begin, byte[] end, boolean reverse, int limit) {
      return isOwn(begin, end)
          ? new MergedCursor(snapshot, own, begin, end, reverse)
          : snapshot.scan(begin, end, reverse, limit < 0 ? Integer.MAX_VALUE : limit);
    }

    private boolean isOwn(byte[] begin, byte[] end) {
      return own != null && Arrays.compareUnsigned(begin, end) < 0 && own.touches(begin, end);
    }
  }

  /** What reads of a transaction and snapshot reads have in common: shorter overloads, mostly. */
  interface RangeOverloads extends ReadTransaction {
    @Override
    default <T> T read(Function<? super ReadTransaction, T> body) {
      return body.apply(this);
    }

    @Override
    default <T> CompletableFuture<T> readAsync(
        Function<? super ReadTransaction, ? extends CompletableFuture<T>> body) {
      return EmbeddedDatabase.applied(body, this);
    }

    @Override
    default AsyncIterable<MappedKeyValue> getMappedRange(
        KeySelector begin,
        KeySelector end,
        byte[] mapper,
        int limit,
        boolean reverse,
        StreamingMode mode) {
      throw new UnsupportedOperationException("The embedded store has no mapped ranges");
    }

    @Override
    default CompletableFuture<KeyRangeArrayResult> getBlobGranuleRanges(
        byte[] begin, byte[] end, int rowLimit) {
      throw new UnsupportedOperationException("The embedded store has no blob granules");
    }

    @Override
    default AsyncIterable<KeyValue> getRange(
        KeySelector begin, KeySelector end, int limit, boolean reverse) {
      return getRange(begin, end, limit, reverse, StreamingMode.ITERATOR);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(KeySelector begin, KeySelector end, int limit) {
      return getRange(begin, end, limit, false);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(KeySelector begin, KeySelector end) {
      return getRange(begin, end, ROW_LIMIT_UNLIMITED);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(
        byte[] begin, byte[] end, int limit, boolean reverse, StreamingMode mode) {
      return getRange(
          KeySelector.firstGreaterOrEqual(begin),
          KeySelector.firstGreaterOrEqual(end),
          limit,
          reverse,
          mode);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(byte[] begin, byte[] end, int limit, boolean reverse) {
      return getRange(begin, end, limit, reverse, StreamingMode.ITERATOR);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(byte[] begin, byte[] end, int limit) {
      return getRange(begin, end, limit, false);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(byte[] begin, byte[] end) {
      return getRange(begin, end, ROW_LIMIT_UNLIMITED);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(
        Range range, int limit, boolean reverse, StreamingMode mode) {
      return getRange(range.begin, range.end, limit, reverse, mode);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(Range range, int limit, boolean reverse) {
      return getRange(range.begin, range.end, limit, reverse);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(Range range, int limit) {
      return getRange(range.begin, range.end, limit);
    }

    @Override
    default AsyncIterable<KeyValue> getRange(Range range) {
      return getRange(range.begin, range.end);
    }

    @Override
    default CompletableFuture<Long> getEstimatedRangeSizeBytes(Range range) {
      return getEstimatedRangeSizeBytes(range.begin, range.end);
    }

    @Override
    default CompletableFuture<KeyArrayResult> getRangeSplitPoints(Range range, long chunkSize) {
      return getRangeSplitPoints(range.begin, range.end, chunkSize);
    }
  }
}
