package lectus.store.embedded;

import com.apple.foundationdb.FDBException;

/** The options that last for one attempt of a transaction and are lost in onError. */
final class AttemptOptions {
  boolean nextWriteWithoutConflict;
  boolean readYourWritesDisabled;
  boolean bypassUnreadable;

  /** Whether a read fails rather than wait for the disk. */
  boolean memoryOnly;

  /** Whether it may be committed where the disk is short. */
  boolean urgent;

  private boolean allWritesRecorded = true;
  private boolean readsSystemKeys;
  private boolean writesSystemKeys;
  private boolean rawAccess;
  private boolean lockAware;
  private boolean readOnly;

  /** Snapshot reads see own writes while this is above zero. */
  private int snapshotReadYourWrites;

  private long sizeLimitBytes;

  AttemptOptions(DatabaseSettings defaults) {
    bypassUnreadable = defaults.bypassUnreadable;
    snapshotReadYourWrites = defaults.snapshotReadYourWrites;
    sizeLimitBytes = defaults.sizeLimitBytes;
  }

  /** Whether the next write adds a conflict range; asked once by every write. */
  boolean takeWriteConflict() {
    boolean conflict = !nextWriteWithoutConflict;
    nextWriteWithoutConflict = false;
    allWritesRecorded &= conflict;
    return conflict;
  }

  /** Whether each write added a conflict range. */
  boolean allWritesRecorded() {
    return allWritesRecorded;
  }

  byte[] readEnd() {
    return readsSystemKeys ? Keys.SYSTEM_END : Keys.USER_END;
  }

  byte[] writeEnd() {
    return writesSystemKeys ? Keys.SYSTEM_END : Keys.USER_END;
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

  /** READ_LOCK_AWARE lets a transaction see a locked database, and write to none. */
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
   * @throws FDBException 2006 outside of 32 to 10 000 000
   */
  void setSizeLimit(byte[] value) {
    sizeLimitBytes =
        OptionValue.number(value, TransactionSize.LEAST_LIMIT_BYTES, TransactionSize.LIMIT_BYTES);
  }
}
