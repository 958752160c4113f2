package lectus.store.contract.model;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lectus.store.Versionstamp;
import lectus.store.contract.model.ModelTransaction.Span;
import lectus.store.contract.model.ModelTransaction.View;
import lectus.store.contract.model.ModelTransaction.Write;

/**
 * A long random interleaving of a few transactions on a store. The model performs each step as
 * well. The same seed produces the same steps.
 */
public final class ModelRun {
  private static final int NOT_COMMITTED = 1020;
  private static final int ACCESSED_UNREADABLE = 1036;
  private static final int NO_COMMIT_VERSION = 2021;
  private static final int MAX_OPEN = 6;
  private static final int TRACE_LENGTH = 80;

  /** Whose read versions are taken again, most of them after their transactions have ended. */
  private static final int MAX_RECENT = 20;

  /** More than any selector's offset. */
  private static final int FENCE_ROWS = 10;

  private final Database database;
  private final byte[] prefix;
  private final long seed;
  private final Dice dice;
  private final List<OpenTransaction> open = new ArrayList<>();
  private final List<OpenTransaction> recent = new ArrayList<>();
  private final Deque<String> trace = new ArrayDeque<>();
  private History history;
  private int started;
  private int lost;
  private int won;

  /**
   * @param prefix the keys that only this run reads and writes
   */
  public ModelRun(Database database, byte[] prefix, long seed) {
    this.database = database;
    this.prefix = prefix;
    this.seed = seed;
    this.dice = new Dice(seed, prefix);
  }

  /** Returns how many commits succeeded. */
  public int won() {
    return won;
  }

  /** Returns how many commits lost to another. */
  public int lost() {
    return lost;
  }

  /**
   * Takes {@code steps} steps.
   *
   * @throws AssertionError at the first difference, with the seed and the last steps
   */
  public void run(int steps) {
    buildFences();
    history = new History(everything());
    int step = 0;
    try {
      for (; step < steps; step++) {
        step();
      }
      open.forEach(each -> each.real.close());
      checkEverything();
    } catch (Difference e) {
      throw new AssertionError(
          "Seed %d, step %d: %s%n%s"
              .formatted(seed, step, e.getMessage(), String.join("\n", trace)),
          e);
    } finally {
      open.forEach(each -> each.real.close());
    }
  }

  private void step() {
    if (open.isEmpty() || (open.size() < MAX_OPEN && dice.oneIn(12))) {
      begin();
      return;
    }
    OpenTransaction chosen = dice.oneOf(open);
    try {
      if (chosen.isOld()) {
        end(chosen);
      } else {
        stepOf(chosen);
      }
    } catch (TooSlow e) {
      end(chosen);
    }
  }

  private void stepOf(OpenTransaction chosen) {
    switch (dice.below(24)) {
      case 0, 1, 2 -> get(chosen);
      case 3, 4 -> getKey(chosen);
      case 5, 6, 7 -> range(chosen);
      case 8 -> iterate(chosen);
      case 9 -> selectedRange(chosen);
      case 10, 11, 12 -> set(chosen);
      case 13 -> clear(chosen);
      case 14 -> clearRange(chosen);
      case 15, 16 -> mutate(chosen);
      case 17 -> stamp(chosen);
      case 18 -> addReadConflict(chosen);
      case 19 -> addWriteConflict(chosen);
      case 20 -> nextWriteHasNoConflict(chosen);
      case 21 -> cancelOrCheck(chosen);
      case 22 -> commit(List.of(chosen));
      default -> commit(several(chosen));
    }
  }

  private void begin() {
    begin(database.createTransaction());
  }

  private void begin(Transaction real) {
    boolean readYourWrites = !dice.oneIn(10);
    if (!readYourWrites) {
      real.options().setReadYourWritesDisable();
    }
    long versionNanos = System.nanoTime();
    if (!recent.isEmpty() && dice.oneIn(8)) {
      OpenTransaction earlier = dice.oneOf(recent);
      if (!earlier.isOld()) {
        real.setReadVersion(earlier.model.readVersion());
        versionNanos = earlier.versionNanos();
      }
    }
    long readVersion = real.getReadVersion().join();
    ModelTransaction model = new ModelTransaction(history, readVersion, readYourWrites);
    if (dice.oneIn(10)) {
      real.options().setSnapshotRywDisable();
      model.disableSnapshotReadYourWrites();
    }
    OpenTransaction opened = new OpenTransaction(started++, real, model, versionNanos);
    open.add(opened);
    recent.add(opened);
    if (recent.size() > MAX_RECENT) {
      recent.remove(0);
    }
    note(opened, "begin at %d, own writes %s", readVersion, readYourWrites);
  }

  private void end(OpenTransaction chosen) {
    open.remove(chosen);
    chosen.real.close();
  }

  private ModelReads reads(OpenTransaction chosen) {
    boolean snapshot = dice.oneIn(4);
    if (snapshot) {
      note(chosen, "snapshot:");
    }
    return new ModelReads(chosen, snapshot);
  }

  private void get(OpenTransaction chosen) {
    byte[] key = dice.oneIn(5) ? someStoredKey() : dice.key();
    note(chosen, "get %s", text(key));
    reads(chosen).get(key);
  }

  private void getKey(OpenTransaction chosen) {
    KeySelector selector = selector();
    note(chosen, "getKey %s", selector);
    reads(chosen).getKey(selector);
  }

  private void range(OpenTransaction chosen) {
    Span span = dice.span();
    int limit = dice.limit();
    boolean reverse = dice.oneIn(3);
    note(chosen, "range %s limit %d reverse %s", text(span), limit, reverse);
    reads(chosen).range(span, limit, reverse, dice);
  }

  private void iterate(OpenTransaction chosen) {
    Span span = dice.span();
    int limit = dice.limit();
    boolean reverse = dice.oneIn(3);
    note(chosen, "iterate %s limit %d reverse %s", text(span), limit, reverse);
    reads(chosen).iterate(span, limit, reverse, dice);
  }

  private void selectedRange(OpenTransaction chosen) {
    KeySelector begin = selector();
    KeySelector end = selector();
    int limit = dice.limit();
    boolean reverse = dice.oneIn(3);
    note(chosen, "range %s to %s limit %d reverse %s", begin, end, limit, reverse);
    reads(chosen).selectedRange(begin, end, limit, reverse, dice);
  }

  private KeySelector selector() {
    return new KeySelector(dice.key(), dice.oneIn(2), dice.below(7) - 3);
  }

  private void set(OpenTransaction chosen) {
    byte[] key = dice.key();
    byte[] value = dice.value();
    note(chosen, "set %s to %d bytes", text(key), value.length);
    chosen.real.set(key, value);
    chosen.model.write(new Write.Put(key, value));
  }

  private void clear(OpenTransaction chosen) {
    byte[] key = dice.oneIn(3) ? someStoredKey() : dice.key();
    note(chosen, "clear %s", text(key));
    chosen.real.clear(key);
    chosen.model.write(new Write.Erase(Span.of(key)));
  }

  private void clearRange(OpenTransaction chosen) {
    Span span = dice.legalSpan();
    note(chosen, "clear %s", text(span));
    chosen.real.clear(span.begin(), span.end());
    chosen.model.write(new Write.Erase(span));
  }

  private void mutate(OpenTransaction chosen) {
    byte[] key = dice.key();
    MutationType type = dice.atomic();
    byte[] present = chosen.model.view(false).get(key);
    boolean equal = type == MutationType.COMPARE_AND_CLEAR && present != null && dice.oneIn(2);
    byte[] operand = equal ? present : dice.operand();
    note(chosen, "%s of %s on %s", type, text(operand), text(key));
    chosen.real.mutate(type, key, operand);
    chosen.model.write(new Write.Atomic(type, key, operand));
  }

  private void stamp(OpenTransaction chosen) {
    byte[] placeholder = Versionstamp.placeholder(started & 0xffff);
    if (dice.oneIn(2)) {
      byte[] key = dice.key();
      note(chosen, "versionstamped value of %s", text(key));
      chosen.real.mutate(
          MutationType.SET_VERSIONSTAMPED_VALUE, key, Versionstamp.template(placeholder, 0));
      chosen.model.write(new Write.StampedValue(key, placeholder, 0));
      return;
    }
    byte[] head = ByteArrayUtil.join(prefix, new byte[] {'s'});
    byte[] tail = dice.oneIn(2) ? new byte[0] : new byte[] {(byte) ('a' + dice.below(3))};
    byte[] template = ByteArrayUtil.join(head, placeholder, tail);
    byte[] value = dice.value();
    note(chosen, "versionstamped key %s", text(template));
    chosen.real.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY, Versionstamp.template(template, head.length), value);
    Span hides = hidden(template, head.length, chosen.model.readVersion());
    chosen.model.write(new Write.StampedKey(template, head.length, value, hides));
  }

  /** Returns the span of possible final keys (section 7). */
  private static Span hidden(byte[] template, int head, long readVersion) {
    byte[] least = ByteBuffer.allocate(10).putLong(readVersion + 1).putShort((short) 0).array();
    byte[] most = new byte[10];
    Arrays.fill(most, (byte) 0xff);
    return new Span(
        View.stamped(template, head, least), Span.after(View.stamped(template, head, most)));
  }

  private void addReadConflict(OpenTransaction chosen) {
    Span span = dice.oneIn(2) ? Span.of(dice.key()) : dice.legalSpan();
    note(chosen, "addReadConflictRange %s", text(span));
    chosen.real.addReadConflictRange(span.begin(), span.end());
    if (!span.isEmpty()) {
      chosen.model.addReadConflict(span);
    }
  }

  private void addWriteConflict(OpenTransaction chosen) {
    Span span = dice.oneIn(2) ? Span.of(dice.key()) : dice.legalSpan();
    note(chosen, "addWriteConflictRange %s", text(span));
    chosen.real.addWriteConflictRange(span.begin(), span.end());
    if (!span.isEmpty()) {
      chosen.model.addWriteConflict(span);
    }
  }

  private void nextWriteHasNoConflict(OpenTransaction chosen) {
    note(chosen, "next write has no conflict range");
    chosen.real.options().setNextWriteNoWriteConflictRange();
    chosen.model.nextWriteHasNoConflict();
    set(chosen);
  }

  private void cancelOrCheck(OpenTransaction chosen) {
    if (dice.oneIn(3)) {
      note(chosen, "cancel");
      chosen.real.cancel();
      end(chosen);
    } else if (dice.oneIn(20)) {
      checkEverything();
    }
  }

  private List<OpenTransaction> several(OpenTransaction chosen) {
    List<OpenTransaction> group = new ArrayList<>(open);
    group.remove(chosen);
    while (group.size() > 2) {
      group.remove(dice.below(group.size()));
    }
    group.add(chosen);
    return group;
  }

  /** Commits concurrently, then checks the winners and their order against the model. */
  private void commit(List<OpenTransaction> group) {
    group.forEach(each -> note(each, "commit, %d at once", group.size()));
    List<CompletableFuture<Void>> commits = group.stream().map(each -> each.real.commit()).toList();
    List<Integer> codes = commits.stream().map(ModelReads::codeOf).toList();
    open.removeAll(group);
    List<OpenTransaction> winners = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) {
      OpenTransaction each = group.get(i);
      note(each, "commit answered %d", codes.get(i));
      if (codes.get(i) == 0 && each.model.isReadOnly()) {
        checkReadOnly(each);
      } else if (codes.get(i) == 0) {
        winners.add(each);
      }
    }
    winners.sort(Comparator.comparing(e -> e.versionstamp.join(), Arrays::compareUnsigned));
    winners.forEach(this::checkWinner);
    for (int i = 0; i < group.size(); i++) {
      if (codes.get(i) != 0) {
        checkLoser(group.get(i), codes.get(i));
      }
      again(group.get(i), codes.get(i));
    }
  }

  private void checkReadOnly(OpenTransaction each) {
    if (each.real.getCommittedVersion() != -1
        || ModelReads.codeOf(each.versionstamp) != NO_COMMIT_VERSION) {
      throw new Difference("A read-only transaction has a commit version");
    }
  }

  private void checkWinner(OpenTransaction each) {
    won++;
    byte[] versionstamp = each.versionstamp.join();
    if (each.real.getCommittedVersion() != ByteBuffer.wrap(versionstamp).getLong()) {
      throw new Difference("Commit version and versionstamp differ");
    }
    if (each.model.hasReadSomethingUnreadable()) {
      throw new Difference(each.number + " read something unreadable and was committed");
    }
    if (each.model.mustLose(history)) {
      throw new Difference(each.number + " should have lost");
    }
    history.commit(versionstamp, each.model.writes(), each.model.writeConflicts());
  }

  private void checkLoser(OpenTransaction each, int code) {
    boolean unreadable = each.model.hasReadSomethingUnreadable();
    boolean expected =
        unreadable
            ? code == ACCESSED_UNREADABLE
            : code == NOT_COMMITTED && each.model.mayLose(history);
    if (!expected && !each.isExcused(code)) {
      throw new Difference(each.number + " should not have lost with " + code);
    }
    lost++;
  }

  /** Sometimes reuses the transaction, as the layer does after an error. */
  private void again(OpenTransaction each, int code) {
    if (code == ACCESSED_UNREADABLE || dice.oneIn(2)) {
      each.real.close();
      return;
    }
    each.real.options().setMaxRetryDelay(0);
    begin(each.real.onError(new FDBException("", NOT_COMMITTED)).join());
  }

  /** Writes rows at both ends of the prefix, so that no selector reaches other keys. */
  private void buildFences() {
    database.run(
        t -> {
          for (byte i = 0; i < FENCE_ROWS; i++) {
            t.set(ByteArrayUtil.join(prefix, new byte[] {0, i}), new byte[] {i});
            t.set(ByteArrayUtil.join(prefix, new byte[] {(byte) 0xff, i}), new byte[] {i});
          }
          return null;
        });
  }

  private NavigableMap<byte[], byte[]> everything() {
    NavigableMap<byte[], byte[]> rows = History.emptyState();
    try (Transaction t = database.createTransaction()) {
      for (KeyValue row : t.snapshot().getRange(Range.startsWith(prefix))) {
        rows.put(row.getKey(), row.getValue());
      }
    }
    return rows;
  }

  private void checkEverything() {
    try (Transaction t = database.createTransaction()) {
      List<KeyValue> rows = t.snapshot().getRange(Range.startsWith(prefix)).asList().join();
      ModelReads.compare(rows, List.copyOf(history.latest().entrySet()));
    }
  }

  /** Returns a stored key: the only way to hit keys made of versionstamps. */
  private byte[] someStoredKey() {
    List<byte[]> stored =
        history.latest().keySet().stream()
            .filter(key -> key[prefix.length] != 0 && key[prefix.length] != (byte) 0xff)
            .toList();
    return stored.isEmpty() ? dice.key() : dice.oneOf(stored);
  }

  private void note(OpenTransaction chosen, String format, Object... arguments) {
    trace.add(chosen.number + " " + format.formatted(arguments));
    if (trace.size() > TRACE_LENGTH) {
      trace.remove();
    }
  }

  private static String text(byte[] key) {
    return ByteArrayUtil.printable(key);
  }

  private static String text(Span span) {
    return "[" + text(span.begin()) + ", " + text(span.end()) + ")";
  }

  /**
   * Performs each read of one transaction on the store and on the model, and compares the results.
   */
  private static final class ModelReads {
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

  /** A transaction of the store and the same transaction of the model. */
  private static final class OpenTransaction {
    /**
     * A store may give up a transaction after five seconds, and a slow machine may need that long.
     */
    private static final long MAY_BE_TOO_OLD_NANOS = 4_000_000_000L;

    private static final int TRANSACTION_TOO_OLD = 1007;

    final int number;
    final Transaction real;
    final ModelTransaction model;
    final CompletableFuture<byte[]> versionstamp;
    private final long versionNanos;

    /**
     * @param versionNanos when the read version was the newest
     */
    OpenTransaction(int number, Transaction real, ModelTransaction model, long versionNanos) {
      this.number = number;
      this.real = real;
      this.model = model;
      this.versionNanos = versionNanos;
      this.versionstamp = real.getVersionstamp();
    }

    long versionNanos() {
      return versionNanos;
    }

    boolean isOld() {
      return System.nanoTime() - versionNanos > MAY_BE_TOO_OLD_NANOS / 2;
    }

    /** Returns whether {@code code} may be due to a machine too slow for the test. */
    boolean isExcused(int code) {
      return code == TRANSACTION_TOO_OLD && System.nanoTime() - versionNanos > MAY_BE_TOO_OLD_NANOS;
    }
  }

  /** A transaction grew too old on a slow machine, which is not the store's fault. */
  private static final class TooSlow extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** The store behaved differently from the model. */
  static final class Difference extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Difference(String what) {
      super(what);
    }
  }
}
