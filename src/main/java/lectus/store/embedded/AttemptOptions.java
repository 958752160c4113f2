package lectus.store.embedded;

import com.apple.foundationdb.FDBException;

/** The options that last for one attempt of a transaction; onError resets them. */
final class AttemptOptions {
  boolean nextWriteWithoutConflict;
  boolean readYourWritesDisabled;
  boolean bypassUnreadable;

  /** Whether a read fails instead of waiting for the disk. */
  boolean memoryOnly;

  /** Whether the transaction may commit while the disk is short of space. */
  boolean urgent;

  private boolean allWritesRecorded = true;
  private boolean readsSystemKeys;
  private boolean writesSystemKeys;
  private boolean rawAccess;
  private boolean lockAware;
  private boolean readOnly;

  /** Snapshot reads see the transaction's own writes while this is above zero. */
  private int snapshotReadYourWrites;

  private long sizeLimitBytes;

  AttemptOptions(DatabaseSettings defaults) {
    bypassUnreadable = defaults.bypassUnreadable;
    snapshotReadYourWrites = defaults.snapshotReadYourWrites;
    sizeLimitBytes = defaults.sizeLimitBytes;
  }

  /** Returns whether the next write adds a conflict range. Every write asks once. */
  boolean takeWriteConflict() {
    boolean conflict = !nextWriteWithoutConflict;
    nextWriteWithoutConflict = false;
    allWritesRecorded &= conflict;
    return conflict;
  }

  /** Returns whether every write added a conflict range. */
  boolean allWritesRecorded() {
    return allWritesRecorded;
  }

  byte[] readEnd() {
    return readsSystemKeys ? KeySpace.SYSTEM_END : KeySpace.USER_END;
  }

  byte[] writeEnd() {
    return writesSystemKeys ? KeySpace.SYSTEM_END : KeySpace.USER_END;
  }

  boolean rawAccess() {
    return rawAccess;
  }

  boolean seesOwnWrites(boolean snapshot) {
    return !readYourWritesDisabled && !(snapshot && snapshotReadYourWrites <= 0);
  }

  long sizeLimitBytes() {
    return sizeLimitBytes;
  }

  void accessSystemKeys() {
    readsSystemKeys = true;
    writesSystemKeys = true;
    rawAccess = true;
  }

  void readSystemKeys() {
    readsSystemKeys = true;
    rawAccess = true;
  }

  /** READ_LOCK_AWARE lets a transaction read a locked database but not write to it. */
  void readLockAware() {
    readOnly |= !lockAware;
  }

  void lockAware() {
    lockAware = true;
    readOnly = false;
  }

  boolean readOnly() {
    return readOnly;
  }

  void setRawAccess() {
    rawAccess = true;
  }

  void snapshotReadYourWrites(int step) {
    snapshotReadYourWrites += step;
  }

  /**
   * @throws FDBException 2006 if the value is not between 32 and 10 000 000
   */
  void setSizeLimit(byte[] value) {
    sizeLimitBytes =
        OptionValue.number(value, TransactionSize.MIN_LIMIT_BYTES, TransactionSize.LIMIT_BYTES);
  }
}
