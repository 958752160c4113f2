package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;

/** Builds commit requests and reads back what they did. */
final class Commits {
  private long readVersion = -1;
  private boolean urgent;
  private final List<KeyRange> reads = new ArrayList<>();
  private final List<KeyRange> writes = new ArrayList<>();
  private final List<Mutation> mutations = new ArrayList<>();
  private boolean recorded = true;

  static Commits commit() {
    return new Commits();
  }

  static byte[] bytes(String ascii) {
    return ascii.getBytes(StandardCharsets.ISO_8859_1);
  }

  static String text(byte[] bytes) {
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

  Commits conflictOn(String begin, String end) {
    writes.add(new KeyRange(bytes(begin), bytes(end)));
    return this;
  }

  Commits set(String key, String value) {
    return set(bytes(key), bytes(value));
  }

  Commits set(byte[] key, byte[] value) {
    mutations.add(new Mutation.Set(key, value));
    writes.add(KeyRange.of(key));
    return this;
  }

  Commits clear(String begin, String end) {
    mutations.add(new Mutation.Clear(bytes(begin), bytes(end)));
    writes.add(new KeyRange(bytes(begin), bytes(end)));
    return this;
  }

  /** A range tombstone where nothing was seen. */
  Commits cover(String begin, String end) {
    mutations.add(new Mutation.Cover(bytes(begin), bytes(end)));
    return read(begin, end);
  }

  Commits atomic(MutationType type, byte[] key, byte[] operand) {
    mutations.add(new Mutation.Atomic(type, key, operand));
    if (type != MutationType.SET_VERSIONSTAMPED_KEY) {
      writes.add(KeyRange.of(key));
    }
    return this;
  }

  /** Without write conflict ranges for what was written so far. */
  Commits unrecorded() {
    writes.clear();
    recorded = false;
    return this;
  }

  /** Goes on where the disk is short. */
  Commits urgent() {
    urgent = true;
    return this;
  }

  CommitRequest request() {
    return new CommitRequest(
        readVersion, sorted(reads), sorted(writes), mutations, recorded, urgent);
  }

  CommitReceipt on(Engine engine) {
    return engine.commit(request()).join();
  }

  /** The FoundationDB code with which the commit fails, or 0. */
  int codeOn(Engine engine) {
    try {
      on(engine);
      return 0;
    } catch (CompletionException failure) {
      return ((FDBException) failure.getCause()).getCode();
    }
  }

  /** The rows of a range as "key=value". */
  static List<String> rows(Snapshot snapshot, String begin, String end) {
    List<String> rows = new ArrayList<>();
    try (Cursor cursor = snapshot.scan(bytes(begin), bytes(end), false)) {
      while (cursor.next()) {
        rows.add(text(cursor.key()) + "=" + text(cursor.value()));
      }
    }
    return rows;
  }

  static List<String> rows(Engine engine, String begin, String end) {
    try (Snapshot snapshot = engine.latest()) {
      return rows(snapshot, begin, end);
    }
  }

  static String get(Engine engine, String key) {
    try (Snapshot snapshot = engine.latest()) {
      return text(snapshot.get(bytes(key)));
    }
  }

  /** As the engine wants conflict ranges: in order, overlapping and touching ones merged. */
  static List<KeyRange> sorted(List<KeyRange> ranges) {
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
