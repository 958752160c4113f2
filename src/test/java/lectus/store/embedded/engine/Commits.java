package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;

/** Builds commit requests and reads back their results. */
public final class Commits {
  private long readVersion = -1;
  private boolean urgent;
  private final List<KeyRange> reads = new ArrayList<>();
  private final List<KeyRange> writes = new ArrayList<>();
  private final List<Mutation> mutations = new ArrayList<>();
  private boolean recorded = true;

  public static Commits commit() {
    return new Commits();
  }

  public static byte[] bytes(String ascii) {
    return ascii.getBytes(StandardCharsets.ISO_8859_1);
  }

  public static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.ISO_8859_1);
  }

  Commits at(long version) {
    readVersion = version;
    return this;
  }

  Commits read(String key) {
    reads.add(KeyRange.of(bytes(key)));
    return this;
  }

  Commits read(String begin, String end) {
    reads.add(new KeyRange(bytes(begin), bytes(end)));
    return this;
  }

  public Commits set(String key, String value) {
    return set(bytes(key), bytes(value));
  }

  public Commits set(byte[] key, byte[] value) {
    mutations.add(new Mutation.Set(key, value));
    writes.add(KeyRange.of(key));
    return this;
  }

  public Commits clear(String begin, String end) {
    mutations.add(new Mutation.Clear(bytes(begin), bytes(end)));
    writes.add(new KeyRange(bytes(begin), bytes(end)));
    return this;
  }

  /** Adds a range tombstone over a range seen empty. */
  Commits cover(String begin, String end) {
    mutations.add(new Mutation.Cover(bytes(begin), bytes(end)));
    return read(begin, end);
  }

  public Commits atomic(MutationType type, byte[] key, byte[] operand) {
    mutations.add(new Mutation.Atomic(type, key, operand));
    if (type != MutationType.SET_VERSIONSTAMPED_KEY) {
      writes.add(KeyRange.of(key));
    }
    return this;
  }

  /** Omits the write conflict ranges of the writes so far. */
  public Commits unrecorded() {
    writes.clear();
    recorded = false;
    return this;
  }

  /** Allows the commit while the disk is short of space. */
  Commits urgent() {
    urgent = true;
    return this;
  }

  public CommitRequest request() {
    return new CommitRequest(
        readVersion, sorted(reads), sorted(writes), mutations, recorded, urgent);
  }

  public CommitReceipt on(Engine engine) {
    return engine.commit(request()).join();
  }

  /** Returns the FoundationDB code with which the commit fails, or 0. */
  int codeOn(Engine engine) {
    try {
      on(engine);
      return 0;
    } catch (CompletionException failure) {
      return ((FDBException) failure.getCause()).getCode();
    }
  }

  /** Returns the rows of a range as "key=value". */
  public static List<String> rows(StoreSnapshot snapshot, String begin, String end) {
    List<String> rows = new ArrayList<>();
    try (Cursor cursor = snapshot.scan(bytes(begin), bytes(end), false)) {
      while (cursor.next()) {
        rows.add(text(cursor.key()) + "=" + text(cursor.value()));
      }
    }
    return rows;
  }

  public static List<String> rows(Engine engine, String begin, String end) {
    try (StoreSnapshot snapshot = engine.latest()) {
      return rows(snapshot, begin, end);
    }
  }

  public static String get(Engine engine, String key) {
    try (StoreSnapshot snapshot = engine.latest()) {
      return text(snapshot.get(bytes(key)));
    }
  }

  /**
   * Returns conflict ranges as the engine requires them: sorted, overlapping and touching ones
   * merged.
   */
  public static List<KeyRange> sorted(List<KeyRange> ranges) {
    List<KeyRange> sorted = new ArrayList<>(ranges);
    sorted.sort(Comparator.comparing(KeyRange::begin, Arrays::compareUnsigned));
    List<KeyRange> merged = new ArrayList<>();
    for (KeyRange range : sorted) {
      KeyRange last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last == null || Arrays.compareUnsigned(range.begin(), last.end()) > 0) {
        merged.add(range);
      } else if (Arrays.compareUnsigned(range.end(), last.end()) > 0) {
        merged.set(merged.size() - 1, new KeyRange(last.begin(), range.end()));
      }
    }
    return merged;
  }
}
