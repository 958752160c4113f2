package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.util.Arrays;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.CommitStamp;

/**
 * The writes of an attempt. They never throw an FDBException: futures fail with the first error,
 * and later writes are dropped (docs/foundationdb-contract.md, section 1).
 */
final class AttemptWrites {
  /** The length of the only legal write to FF/metadataVersion: a versionstamp at offset 0. */
  private static final int METADATA_VERSION_OPERAND_BYTES = 14;

  // A transaction's size, computed as a cluster does (docs/foundationdb-contract.md, section 2).
  static final int LIMIT_BYTES = 10_000_000;
  static final int MIN_LIMIT_BYTES = 32;

  /** What a mutation adds besides its key and value. */
  static final int MUTATION_BYTES = 44;

  /** What a conflict range adds besides its bounds. */
  static final int RANGE_BYTES = 24;

  private final Attempt attempt;

  AttemptWrites(Attempt attempt) {
    this.attempt = attempt;
  }

  void set(byte[] key, byte[] value) {
    write(() -> trySet(key.clone(), value.clone()));
  }

  private void trySet(byte[] key, byte[] value) {
    boolean conflict = begin(key);
    check(key, value);
    grow(key, value, conflict);
    attempt.writes.set(key, value);
    if (conflict) {
      attempt.writeConflicts.add(key, null);
    }
    if (attempt.watches != null) {
      attempt.watches.written(key, value);
    }
  }

  void clear(byte[] key) {
    write(() -> tryClear(key.clone()));
  }

  private void tryClear(byte[] key) {
    boolean conflict = takeConflict();
    checkNotSpecial(key);
    if (Arrays.compareUnsigned(key, attempt.options.writeEnd) >= 0) {
      throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
    }
    if (key.length > KeySpace.readLimit(key)) {
      return;
    }
    byte[] end = KeySpace.after(key);
    long rangeBytes = keyRangeBytes(key);
    attempt.approximateSizeBytes += conflict ? 2 * rangeBytes : rangeBytes;
    clearRange(key, end, conflict);
  }

  void clear(byte[] begin, byte[] end) {
    write(() -> tryClear(begin.clone(), end.clone()));
  }

  private void tryClear(byte[] begin, byte[] end) {
    if (Arrays.compareUnsigned(begin, end) > 0) {
      throw FoundationDbError.INVERTED_RANGE.exception();
    }
    boolean conflict = takeConflict();
    checkNotSpecial(begin);
    checkBounds(begin, end, attempt.options.writeEnd);
    attempt.approximateSizeBytes +=
        begin.length + end.length + MUTATION_BYTES + (conflict ? rangeBytes(begin, end) : 0);
    clearRange(KeySpace.cut(begin), KeySpace.cut(end), conflict);
  }

  private void clearRange(byte[] begin, byte[] end, boolean conflict) {
    if (Arrays.compareUnsigned(begin, end) >= 0) {
      return;
    }
    attempt.writes.clear(begin, end);
    if (conflict) {
      attempt.writeConflicts.add(begin, end);
    }
    if (attempt.watches != null) {
      attempt.watches.cleared(begin, end);
    }
  }

  void mutate(MutationType type, byte[] key, byte[] operand) {
    write(() -> tryMutate(type, key.clone(), operand.clone()));
  }

  private void tryMutate(MutationType type, byte[] key, byte[] operand) {
    boolean conflict = takeConflict();
    if (KeySpace.isMetadataVersion(key)) {
      checkMetadataVersion(type, operand);
    } else {
      check(key, operand);
    }
    switch (type) {
      case SET_VERSIONSTAMPED_KEY -> mutateStampedKey(key, operand);
      case SET_VERSIONSTAMPED_VALUE -> {
        CommitStamp.offset(operand);
        mutateKey(type, key, operand, conflict);
      }
      default -> mutateKey(type, key, operand, conflict);
    }
  }

  private void mutateKey(MutationType type, byte[] key, byte[] operand, boolean conflict) {
    grow(key, operand, conflict);
    attempt.writes.mutate(type, key, operand);
    if (conflict) {
      attempt.writeConflicts.add(key, null);
    }
    if (attempt.watches != null) {
      attempt.watches.changed(key);
    }
  }

  /** Leaves the write conflict range to the committer, which alone knows the final key. */
  private void mutateStampedKey(byte[] key, byte[] operand) {
    long lowest = attempt.hasReadVersion() ? attempt.readVersion() + 1 : 0;
    var place = CommitStamp.place(key, lowest, attempt.options.readEnd);
    byte[] template = CommitStamp.withLowestStamp(key, lowest);
    grow(template, operand, false);
    attempt.writes.mutateStampedKey(template, operand, place);
    if (attempt.watches != null) {
      attempt.watches.changed(template);
    }
  }

  private static void checkMetadataVersion(MutationType type, byte[] operand) {
    boolean allowed =
        type == MutationType.SET_VERSIONSTAMPED_VALUE
            && operand.length == METADATA_VERSION_OPERAND_BYTES;
    for (int i = 0; allowed && i < operand.length; i++) {
      allowed = operand[i] == 0;
    }
    if (!allowed) {
      throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
    }
  }

  /**
   * @throws FDBException 2005 immediately if the range is inverted; other errors are deferred
   */
  void addReadConflict(byte[] begin, byte[] end) {
    checkNotInverted(begin, end);
    write(() -> tryAddReadConflict(begin.clone(), end.clone()));
  }

  private void tryAddReadConflict(byte[] begin, byte[] end) {
    checkNotCommitted();
    boolean isMetadataVersion =
        KeySpace.isMetadataVersion(begin)
            && Arrays.compareUnsigned(end, KeySpace.METADATA_VERSION_END) == 0;
    if (!isMetadataVersion) {
      checkBounds(begin, end, attempt.options.readEnd);
    }
    attempt.addReadRange(KeySpace.cut(begin), KeySpace.cut(end));
  }

  /**
   * @throws FDBException 2005 immediately if the range is inverted; other errors are deferred
   */
  void addWriteConflict(byte[] begin, byte[] end) {
    checkNotInverted(begin, end);
    write(() -> tryAddWriteConflict(begin.clone(), end.clone()));
  }

  private void tryAddWriteConflict(byte[] begin, byte[] end) {
    checkNotCommitted();
    checkBounds(begin, end, attempt.options.writeEnd);
    byte[] from = KeySpace.cut(begin);
    byte[] to = KeySpace.cut(end);
    if (Arrays.compareUnsigned(from, to) < 0) {
      attempt.writeConflicts.add(from, to);
      attempt.approximateSizeBytes += rangeBytes(from, to);
    }
  }

  void setReadVersion(long version) {
    write(
        () -> {
          if (attempt.hasReadVersion()) {
            throw FoundationDbError.READ_VERSION_ALREADY_SET.exception();
          }
          if (version <= 0) {
            throw FoundationDbError.VERSION_INVALID.exception();
          }
          attempt.setReadVersion(version);
        });
  }

  /** Runs a write unless an earlier one has failed. Keeps its error. */
  private void write(Runnable write) {
    synchronized (attempt) {
      if (attempt.deferred != null) {
        return;
      }
      try {
        write.run();
      } catch (FDBException error) {
        attempt.deferred = error;
      }
    }
    if (attempt.watches != null) {
      attempt.watches.fire();
    }
  }

  private boolean begin(byte[] key) {
    if (KeySpace.isMetadataVersion(key)) {
      throw FoundationDbError.CLIENT_INVALID_OPERATION.exception();
    }
    checkNotSpecial(key);
    return takeConflict();
  }

  /** Returns whether this write adds a conflict range. Every write asks once. */
  private boolean takeConflict() {
    AttemptOptions options = attempt.options;
    boolean conflict = !options.nextWriteWithoutConflict;
    options.nextWriteWithoutConflict = false;
    options.allWritesRecorded &= conflict;
    if (attempt.commitCalled) {
      throw FoundationDbError.USED_DURING_COMMIT.exception();
    }
    return conflict;
  }

  private void checkNotCommitted() {
    if (attempt.commitCalled) {
      throw FoundationDbError.USED_DURING_COMMIT.exception();
    }
  }

  private static void checkNotSpecial(byte[] key) {
    if (KeySpace.isSpecial(key)) {
      throw FoundationDbError.SPECIAL_KEYS_WRITE_DISABLED.exception();
    }
  }

  private static void checkBounds(byte[] begin, byte[] end, byte[] keysEnd) {
    if (Arrays.compareUnsigned(begin, keysEnd) > 0 || Arrays.compareUnsigned(end, keysEnd) > 0) {
      throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
    }
  }

  private static void checkNotInverted(byte[] begin, byte[] end) {
    if (Arrays.compareUnsigned(begin, end) > 0) {
      throw FoundationDbError.INVERTED_RANGE.exception();
    }
  }

  private void check(byte[] key, byte[] value) {
    if (Arrays.compareUnsigned(key, attempt.options.writeEnd) >= 0) {
      throw FoundationDbError.KEY_OUTSIDE_LEGAL_RANGE.exception();
    }
    if (key.length > KeySpace.writeLimit(key, attempt.options.rawAccess)) {
      throw FoundationDbError.KEY_TOO_LARGE.exception();
    }
    if (value.length > KeySpace.VALUE_LIMIT_BYTES) {
      throw FoundationDbError.VALUE_TOO_LARGE.exception();
    }
  }

  private void grow(byte[] key, byte[] value, boolean conflict) {
    attempt.approximateSizeBytes +=
        key.length + value.length + MUTATION_BYTES + (conflict ? keyRangeBytes(key) : 0);
  }

  /** Returns the size of a single key's conflict range: its two bounds and the range's overhead. */
  static long keyRangeBytes(byte[] key) {
    return RANGE_BYTES + 2L * key.length + 1;
  }

  static long rangeBytes(byte[] begin, byte[] end) {
    return RANGE_BYTES + (long) begin.length + end.length;
  }
}
