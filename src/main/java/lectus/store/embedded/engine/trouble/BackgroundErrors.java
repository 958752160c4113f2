package lectus.store.embedded.engine.trouble;

import org.rocksdb.AbstractEventListener;
import org.rocksdb.BackgroundErrorReason;
import org.rocksdb.Status;

/**
 * Listens for failed flushes and compactions, after which RocksDB accepts no more writes. RocksDB
 * may wait for space by itself only after a failed compaction, on which nothing depends. After any
 * other failure it would begin a new log although the previous one ends in a torn record.
 */
public final class BackgroundErrors extends AbstractEventListener {
  private volatile Trouble trouble;

  public BackgroundErrors() {
    super(EnabledEventCallback.ON_BACKGROUND_ERROR, EnabledEventCallback.ON_ERROR_RECOVERY_BEGIN);
  }

  /** Returns what keeps RocksDB from writing, or null. */
  public Trouble trouble() {
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
