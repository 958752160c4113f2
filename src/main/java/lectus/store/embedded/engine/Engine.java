package lectus.store.embedded.engine;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import lectus.metrics.Meters;
import lectus.metrics.Tasks;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;

/**
 * The embedded store below its transactions: versions, snapshots, conflict detection, the committer
 * and durability. It knows nothing of read-your-writes, key selectors or options.
 */
public interface Engine extends AutoCloseable {

  /**
   * Returns the newest readable version. It is at or above every acknowledged commit, never falls
   * and is never reused.
   */
  long readVersion();

  /**
   * Returns the store at {@code version}, held until closed.
   *
   * @throws com.apple.foundationdb.FDBException 1007 if that version is no longer held, 1009 if it
   *     has not been reached
   */
  StoreSnapshot snapshot(long version);

  /** Returns the newest version with its snapshot, in one step. */
  StoreSnapshot latest();

  /**
   * Checks, orders and syncs a commit. The future completes once the write-ahead log is on disk and
   * the new version is readable.
   *
   * <p>It fails with FDBException 1020 if a later commit wrote into a read range, 1007 if the read
   * version is too old to tell, 1021 if the log could not be written (every later commit then fails
   * with 1514 or 1599 until the store is reopened), 1599 if the disk is short of space, 1042 if too
   * many commits wait, 1025 if the engine is closed.
   *
   * <p>The future completes on a thread of the engine's executor; those of one group complete one
   * after the other. Dependent work that may block belongs on another executor.
   */
  CompletableFuture<CommitReceipt> commit(CommitRequest request);

  /**
   * Calls {@code listener} with the version of each group of commits once it is readable. Idle time
   * also produces versions, but they change nothing. The listener runs on the committer's thread,
   * so it must be quick. There is one listener; set it before the first commit.
   */
  void onPublish(LongConsumer listener);

  /**
   * Completes with a sentence when this process can no longer use the store, not even for reads.
   */
  default CompletableFuture<String> broken() {
    return new CompletableFuture<>();
  }

  /**
   * Makes a data folder beside the store's files that shares them, and is a store of its own with
   * everything that was acknowledged when this was called. Takes as long as a memtable's flush.
   *
   * @return the folder, within the store's; it takes the place of the one before
   * @throws com.apple.foundationdb.FDBException as a commit
   */
  Path checkpoint();

  /** Returns whether the disk is short of space, or soon will be. */
  default boolean isShortOfSpace() {
    return false;
  }

  /** Names its figures, once; an engine that nobody writes to has none. */
  default void describe(Meters meters) {}

  default Tasks tasks() {
    return new Tasks();
  }

  long estimatedSize(byte[] begin, byte[] end);

  @Override
  void close();
}
