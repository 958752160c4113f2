package lectus.store.contract.model;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Performs each read of one transaction on the store and on the model, and compares the results.
 */
final class ModelReads {
  private static final int ACCESSED_UNREADABLE = 1036;

  private final OpenTransaction open;
  private final ModelTransaction model;
  private final boolean snapshot;
  private final ReadTransaction reader;
  private final View view;

  ModelReads(OpenTransaction open, boolean snapshot) {
    this.open = open;
    this.model = open.model;
    this.snapshot = snapshot;
    this.reader = snapshot ? open.real.snapshot() : open.real;
    this.view = model.view(snapshot);
  }

  void get(byte[] key) {
    boolean unreadable = view.isUnreadable(key);
    if (succeeds(reader.get(key), unreadable)) {
      compare(reader.get(key).join(), view.get(key));
      conflict(Span.of(key));
    }
  }

  void getKey(KeySelector selector) {
    if (model.hasComparedAndCleared()) {
      return;
    }
    byte[] base = base(selector);
    boolean unreadable = view.resolvesUnreadable(base, selector.getOffset());
    CompletableFuture<byte[]> read = reader.getKey(selector);
    if (succeeds(read, unreadable)) {
      byte[] result = view.resolve(base, selector.getOffset());
      compare(read.join(), result);
      boolean forward = selector.getOffset() > 0;
      conflict(forward ? new Span(base, Span.after(result)) : new Span(result, base));
    }
  }

  void range(Span span, int limit, boolean reverse, Dice dice) {
    View.Rows rows = view.range(span, limit, reverse);
    AsyncIterable<KeyValue> range =
        reader.getRange(span.begin(), span.end(), limit, reverse, dice.mode(limit));
    CompletableFuture<List<KeyValue>> read = range.asList();
    if (succeeds(read, rows == null)) {
      compare(read.join(), rows.rows());
      if (!span.isEmpty()) {
        conflict(rows.stopped() ? View.scanned(span, rows.lastKey(), reverse) : span);
      }
    }
  }

  /** Takes only the first rows of an iterator, which may have fetched more. */
  void iterate(Span span, int limit, boolean reverse, Dice dice) {
    if (view.hasUnreadable() || span.isEmpty()) {
      return;
    }
    View.Rows rows = view.range(span, limit, reverse);
    AsyncIterator<KeyValue> iterator =
        reader.getRange(span.begin(), span.end(), limit, reverse, dice.mode(limit)).iterator();
    int wanted = dice.below(rows.rows().size() + 1);
    List<KeyValue> read = new ArrayList<>();
    while (read.size() < wanted && iterator.hasNext()) {
      read.add(iterator.next());
    }
    compare(read, rows.rows().subList(0, wanted));
    if (!snapshot) {
      model.mayConflict(span);
      if (wanted > 0) {
        model.addReadConflict(View.scanned(span, rows.rows().get(wanted - 1).getKey(), reverse));
      }
    }
    // The first chunk belongs to the transaction once it has arrived.
    iterator.onHasNext().join();
  }

  void selectedRange(KeySelector begin, KeySelector end, int limit, boolean reverse, Dice dice) {
    if (view.hasUnreadable() || model.hasComparedAndCleared()) {
      return;
    }
    byte[] from = view.resolve(base(begin), begin.getOffset());
    byte[] to = view.resolve(base(end), end.getOffset());
    View.Rows rows = view.range(new Span(from, to), limit, reverse);
    List<KeyValue> read =
        reader.getRange(begin, end, limit, reverse, dice.mode(limit)).asList().join();
    compare(read, rows.rows());
    if (!snapshot) {
      model.mayConflict(hull(List.of(from, to, base(begin), base(end))));
      rows.rows().forEach(row -> model.addReadConflict(Span.of(row.getKey())));
    }
  }

  private void conflict(Span span) {
    if (!snapshot) {
      model.addReadConflict(span);
    }
  }

  private boolean succeeds(CompletableFuture<?> read, boolean unreadable) {
    int code = codeOf(read);
    if (code != (unreadable ? ACCESSED_UNREADABLE : 0)) {
      if (open.isExcused(code)) {
        throw new TooSlow();
      }
      throw new Difference("The read answered " + code);
    }
    if (unreadable) {
      model.readSomethingUnreadable();
    }
    return !unreadable;
  }

  static int codeOf(CompletableFuture<?> future) {
    try {
      future.join();
      return 0;
    } catch (CompletionException e) {
      if (e.getCause() instanceof FDBException failure) {
        return failure.getCode();
      }
      throw e;
    }
  }

  private static byte[] base(KeySelector selector) {
    return selector.orEqual() ? Span.after(selector.getKey()) : selector.getKey();
  }

  private static Span hull(List<byte[]> keys) {
    List<byte[]> sorted = keys.stream().sorted(Arrays::compareUnsigned).toList();
    return new Span(sorted.get(0), Span.after(sorted.get(sorted.size() - 1)));
  }

  private static void compare(byte[] actual, byte[] expected) {
    if (!Arrays.equals(actual, expected)) {
      throw new Difference("It is " + text(actual) + " and should be " + text(expected));
    }
  }

  static void compare(List<KeyValue> actual, List<Map.Entry<byte[], byte[]>> expected) {
    List<String> actualRows =
        actual.stream().map(row -> text(row.getKey()) + "=" + text(row.getValue())).toList();
    List<String> expectedRows =
        expected.stream().map(row -> text(row.getKey()) + "=" + text(row.getValue())).toList();
    if (!actualRows.equals(expectedRows)) {
      throw new Difference("The rows are " + actualRows + " and should be " + expectedRows);
    }
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "nothing" : ByteArrayUtil.printable(bytes);
  }
}
