package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/**
 * Why the store takes no commits for now.
 *
 * @param told without its full stop, for clients, who need not know of the server's files
 * @param detail what RocksDB says of it, for the log
 * @param beforeWriting whether nothing of the write that met it can be on disk
 */
record Trouble(Kind kind, String told, String detail, boolean beforeWriting) {
  /** What has to change before the store can be written again. */
  enum Kind {
    NO_SPACE,
    NO_DESCRIPTORS,
    FAILED
  }

  /** How RocksDB says that it could not open a file; it opens them before it writes. */
  private static final String OPENING = "While open a file";

  private static final String NO_DESCRIPTORS = "Too many open files";
  private static final String NO_SPACE = "No space left on device";

  /** What a failed write means. */
  static Trouble of(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    Status status = failure instanceof RocksDBException known ? known.getStatus() : null;
    if (isNoSpace(status) || message.contains(NO_SPACE)) {
      return told(Kind.NO_SPACE, "The disk is full", message);
    }
    return message.contains(NO_DESCRIPTORS)
        ? told(Kind.NO_DESCRIPTORS, "The server has too many files and sockets open", message)
        : told(Kind.FAILED, "The store could not be written", message);
  }

  /** What a flush or a compaction met in the background. */
  static Trouble inBackground(Status status) {
    return of(new RocksDBException(status));
  }

  static boolean isNoSpace(Status status) {
    return status != null && status.getSubCode() == Status.SubCode.NoSpace;
  }

  /** For the log. */
  String sentence() {
    return told + " (" + detail + ").";
  }

  /** What a commit gets that certainly is not stored. */
  FDBException refusal() {
    return kind == Kind.NO_SPACE
        ? StoreErrors.noSpace(told + ".")
        : StoreErrors.notWritable(told + ".");
  }

  private static Trouble told(Kind kind, String what, String message) {
    return new Trouble(kind, what, message, message.contains(OPENING));
  }
}
