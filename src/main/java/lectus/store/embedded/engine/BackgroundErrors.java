package lectus.store.embedded.engine;

import org.rocksdb.AbstractEventListener;
import org.rocksdb.BackgroundErrorReason;
import org.rocksdb.Status;

/**
 * Hears of flushes and compactions that failed, after which RocksDB takes no more writes. It may
 * wait for space by itself only after a failed compaction, on which nothing depends. After anything
 * else it would begin a new log behind one that ends in a torn record.
 */
final class BackgroundErrors extends AbstractEventListener {
  private volatile Trouble trouble;

  BackgroundErrors() {
    super(EnabledEventCallback.ON_BACKGROUND_ERROR, EnabledEventCallback.ON_ERROR_RECOVERY_BEGIN);
  }

  /** What keeps RocksDB from writing, or null. */
  Trouble trouble() {
    return trouble;
  }

  @Override
  public void onBackgroundError(BackgroundErrorReason reason, Status status) {
    if (reason != BackgroundErrorReason.WRITE_CALLBACK && !mayWait(reason, status)) {
      trouble = Trouble.inBackground(status);
    }
  }

  @Override
  public boolean onErrorRecoveryBegin(BackgroundErrorReason reason, Status status) {
    return mayWait(reason, status);
  }

  private static boolean mayWait(BackgroundErrorReason reason, Status status) {
    return reason == BackgroundErrorReason.COMPACTION && Trouble.isNoSpace(status);
  }
}
