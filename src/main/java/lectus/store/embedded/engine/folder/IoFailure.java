package lectus.store.embedded.engine.folder;

import com.apple.foundationdb.FDBException;
import lectus.error.FoundationDbError;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reason why the store accepts no commits for now.
 *
 * @param told a sentence without its full stop, for clients, who need not know of the server's
 *     files
 * @param detail RocksDB's message, for the log
 * @param beforeWriting whether nothing of the failed write can be on disk
 */
public record IoFailure(Kind kind, String told, String detail, boolean beforeWriting) {
  private static final Logger LOG = LoggerFactory.getLogger(IoFailure.class);

  /** A failing disk fails many reads. */
  private static final RecentLines RECENT = new RecentLines(System::nanoTime);

  /** What has to change before the store can be written again. */
  public enum Kind {
    NO_SPACE,
    NO_DESCRIPTORS,
    FAILED
  }

  /**
   * The beginning of RocksDB's message when it cannot open a file, which it does before it writes.
   */
  private static final String OPENING = "While open a file";

  /** The failure for whose description there is no memory. */
  public static final IoFailure UNNAMED = of(new OutOfMemoryError("no memory"));

  private static final String NO_DESCRIPTORS = "Too many open files";
  private static final String NO_SPACE = "No space left on device";

  /** Classifies a failed write. */
  public static IoFailure of(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    Status status = failure instanceof RocksDBException known ? known.getStatus() : null;
    if (isNoSpace(status) || message.contains(NO_SPACE)) {
      return told(Kind.NO_SPACE, "The disk is full", message);
    }
    return message.contains(NO_DESCRIPTORS)
        ? told(Kind.NO_DESCRIPTORS, "The server has too many files and sockets open", message)
        : told(Kind.FAILED, "The store could not be written", message);
  }

  /** Classifies a background failure of a flush or a compaction. */
  static IoFailure inBackground(Status status) {
    return of(new RocksDBException(status));
  }

  static boolean isNoSpace(Status status) {
    return status != null && status.getSubCode() == Status.SubCode.NoSpace;
  }

  /** Returns the sentence for the log. */
  public String sentence() {
    return told + " (" + detail + ").";
  }

  /** Returns the error of a commit that is certainly not stored. */
  public FDBException refusal() {
    return kind == Kind.NO_SPACE
        ? FoundationDbError.NO_SPACE.exception(told + ".")
        : FoundationDbError.FILE_NOT_WRITABLE.exception(told + ".");
  }

  private static IoFailure told(Kind kind, String what, String message) {
    return new IoFailure(kind, what, message, message.contains(OPENING));
  }

  /**
   * Returns a read's error: 1522 with RocksDB's message if the data is damaged, otherwise 1513.
   * Clients see 1513, so its sentence has no file names; the log has them.
   */
  public static FDBException unreadable(RocksDBException failure) {
    Status status = failure.getStatus();
    String sentence = "The store could not be read (" + failure.getMessage() + ")";
    if (status != null && status.getCode() == Status.Code.Corruption) {
      return new FDBException(sentence, FoundationDbError.FILE_CORRUPT.code());
    }
    if (RECENT.isNew(sentence)) {
      LOG.error("{}.", sentence);
    }
    return FoundationDbError.FILE_NOT_READABLE.exception(
        "The store could not be read; the log says why.");
  }
}
