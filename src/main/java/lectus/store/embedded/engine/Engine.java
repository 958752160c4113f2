package lectus.store.embedded.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/**
 * The embedded store below its transactions: versions, snapshots, conflict detection, the
 * committer, durability. It knows nothing of read-your-writes, key selectors or options.
 */
public interface Engine extends AutoCloseable {

  /** How far behind the newest version a transaction may be: 5 s at 1 000 000 versions a second. */
  long WINDOW_VERSIONS = 5_000_000;

  /**
   * The newest readable version: not below any acknowledged commit, never falling, never reused.
   */
  long readVersion();

  /**
   * The store at {@code version}, held until closed.
   *
   * @throws com.apple.foundationdb.FDBException 1007 if that version is no longer held, 1009 if it
   *     has not been reached
   */
  Snapshot snapshot(long version);

  /** The newest version and its snapshot in one step. */
  Snapshot latest();

  /**
   * Checks, orders, and makes durable; the future completes once the write-ahead log is on disk and
   * the new version is readable.
   *
   * <p>It fails with FDBException 1020 when a later commit wrote into a read range, 1007 when the
   * read version is too old to tell, 1021 when the log could not be written (every later one then
   * with 1514 or 1599 until the store could be opened again), 1599 when the disk is short, 1042
   * when too many commits wait, 1025 when the engine is closed.
   *
   * <p>The future completes on a thread of the engine's executor, those of one group one after the
   * other: whatever depends on it and may block belongs on another executor.
   */
  CompletableFuture<CommitReceipt> commit(CommitRequest request);

  /**
   * Has {@code listener} called with the version of each group of commits once it is readable; idle
   * time makes versions, too, but changes nothing. It runs on the committer's thread, so it must be
   * quick. One listener; set before the first commit.
   */
  void onPublish(LongConsumer listener);

  /** Completed with a sentence when the store cannot go on, reads included, in this process. */
  default CompletableFuture<String> broken() {
    return new CompletableFuture<>();
  }

  /** Estimated bytes stored in a range. */
  long estimatedSize(byte[] begin, byte[] end);

  @Override
  void close();
}
