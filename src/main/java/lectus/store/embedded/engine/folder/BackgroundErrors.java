package lectus.store.embedded.engine.folder;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.BackgroundErrorReason;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/**
 * Listens for failed flushes and compactions, after which RocksDB accepts no more writes. RocksDB
 * may wait for space by itself only after a failed compaction, on which nothing depends. After any
 * other failure it would begin a new log although the previous one ends in a torn record.
 */
public final class BackgroundErrors extends AbstractEventListener {
  /**
   * Reasons that RocksDB has and its Java binding lacks: a failed write of the manifest (4, 6), and
   * a failed flush whose rows are in no older log (5).
   */
  private static final Pattern LACKING =
      Pattern.compile("(?s)Background IO error (IO error: .*), reason [456]\\s*$");

  private volatile IoFailure trouble;

  public BackgroundErrors() {
    super(EnabledEventCallback.ON_BACKGROUND_ERROR, EnabledEventCallback.ON_ERROR_RECOVERY_BEGIN);
  }

  /** Returns what keeps RocksDB from writing, or null. */
  public IoFailure trouble() {
    return trouble;
  }

  @Override
  public void onBackgroundError(BackgroundErrorReason reason, Status status) {
    if (reason != BackgroundErrorReason.WRITE_CALLBACK && !mayWait(reason, status)) {
      trouble = IoFailure.inBackground(status);
    }
  }

  /**
   * Called with each line of RocksDB's log. Where the binding lacks the reason of an error, it
   * throws instead of calling {@link #onBackgroundError}.
   */
  public void logged(String line) {
    Matcher error = LACKING.matcher(line);
    if (error.find()) {
      trouble = IoFailure.of(new RocksDBException(error.group(1)));
    }
  }

  @Override
  public boolean onErrorRecoveryBegin(BackgroundErrorReason reason, Status status) {
    return mayWait(reason, status);
  }

  private static boolean mayWait(BackgroundErrorReason reason, Status status) {
    return reason == BackgroundErrorReason.COMPACTION && IoFailure.isNoSpace(status);
  }
}
