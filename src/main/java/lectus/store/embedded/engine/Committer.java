package lectus.store.embedded.engine;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.CommitQueue.PendingCommit;
import lectus.store.embedded.engine.SnapshotRegistry.Published;
import lectus.store.embedded.engine.folder.BackgroundErrors;
import lectus.store.embedded.engine.folder.IoFailure;
import lectus.store.embedded.engine.folder.LogTracker;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes groups of commits durable and readable, one group at a time: check, resolve, write, sync,
 * publish. It stops at the first failed write, because it cannot know which part is on disk; the
 * store then has to be reopened. A failure before anything is written ends only its own group.
 */
public final class Committer {
  private static final Logger LOG = LoggerFactory.getLogger(Committer.class);

  private final RocksDB db;
  private final WriteOptions writeOptions;
  private final VersionLease lease;
  private final SnapshotRegistry snapshots;
  private final ConflictHistory history;
  private final AtomicValues atomicValues;
  private final LogTracker log;
  private volatile BiConsumer<byte[], byte[]> clears = (begin, end) -> {};
  private volatile LongConsumer listener = version -> {};
  private final BackgroundErrors background;
  private volatile IoFailure trouble;

  public Committer(
      RocksDB db,
      WriteOptions writeOptions,
      VersionLease lease,
      SnapshotRegistry snapshots,
      ConflictHistory history,
      AtomicValues atomicValues,
      LogTracker log,
      BackgroundErrors background) {
    this.db = db;
    this.writeOptions = writeOptions;
    this.lease = lease;
    this.snapshots = snapshots;
    this.history = history;
    this.atomicValues = atomicValues;
    this.log = log;
    this.background = background;
  }

  /** Calls {@code newListener} with each version that commits produced, once it is readable. */
  public void onPublish(LongConsumer newListener) {
    listener = newListener;
  }

  /** Calls {@code newClears} with each larger range that was cleared. */
  public void onClear(BiConsumer<byte[], byte[]> newClears) {
    clears = newClears;
  }

  /** Decides on every commit of the group. The caller completes them. */
  public void commit(List<PendingCommit> commits) {
    if (isBroken()) {
      refuse(commits);
      return;
    }
    CommitGroup group;
    try {
      group = new CommitGroup(nextVersion(), commits, history, snapshots, atomicValues);
    } catch (RocksDBException error) {
      // The lease could not be extended, so nothing of the group is written.
      fail(error);
      refuse(commits);
      return;
    } catch (Throwable error) {
      LOG.error("A group of commits failed before it was written; nothing of it is stored", error);
      // The cached values include writes that will never be stored.
      atomicValues.forgetAll();
      doubt(commits);
      return;
    }
    try {
      if (!group.isEmpty()) {
        write(group.writes());
        publish(group);
        tell(group);
      }
    } catch (Throwable error) {
      fail(error);
      if (trouble.beforeWriting()) {
        refuse(commits);
      } else {
        doubt(commits);
      }
    }
  }

  private void refuse(List<PendingCommit> commits) {
    commits.forEach(commit -> commit.doubt(trouble.refusal()));
  }

  private static void doubt(List<PendingCommit> commits) {
    commits.forEach(commit -> commit.doubt(FoundationDbError.COMMIT_UNKNOWN_RESULT.exception()));
  }

  /** Raises the readable version while nothing is committed, so that windows expire. */
  public void advance() {
    if (isBroken()) {
      return;
    }
    log.settle();
    try {
      long version = nextVersion();
      snapshots.advance(version);
      forgetConflicts();
    } catch (RocksDBException error) {
      fail(error);
    } catch (Throwable error) {
      LOG.error("The readable version could not be raised; the next turn tries again", error);
    }
  }

  /** Returns why nothing can be committed until the store is reopened, or null. */
  public IoFailure trouble() {
    return trouble;
  }

  /** RocksDB refuses every write after a background error, so it is not even asked. */
  private boolean isBroken() {
    IoFailure heard = background.trouble();
    if (heard != null) {
      stop(heard);
    }
    return trouble != null;
  }

  /**
   * Records after the last turn where the versions and the logs end, unless a write has failed. The
   * next start may then begin below the ceiling.
   */
  public void close() {
    if (isBroken()) {
      return;
    }
    try {
      writeCeiling(SystemKeys.encodeEnd(lease.durableCeiling(), lease.last()));
    } catch (RocksDBException failure) {
      fail(failure);
      return;
    }
    log.ask();
    log.settle();
  }

  private long nextVersion() throws RocksDBException {
    long version = lease.next();
    if (!lease.covers(version)) {
      long ceiling = lease.proposedCeiling();
      writeCeiling(SystemKeys.encodeVersion(ceiling));
      lease.extendTo(ceiling);
    }
    return version;
  }

  private void writeCeiling(byte[] value) throws RocksDBException {
    GroupWrites writes = new GroupWrites(0, 0);
    writes.batch.put(SystemKeys.VERSION_CEILING, value);
    writeBatch(writes.batch.toByteArray());
  }

  private void write(GroupWrites writes) throws RocksDBException {
    boolean extend = lease.isShort() && !writes.batch.isEmpty();
    long ceiling = lease.proposedCeiling();
    if (extend) {
      writes.batch.put(SystemKeys.VERSION_CEILING, SystemKeys.encodeVersion(ceiling));
    }
    if (!writes.batch.isEmpty()) {
      writeBatch(writes.batch.toByteArray());
    }
    if (extend) {
      lease.extendTo(ceiling);
    }
  }

  private void writeBatch(byte[] bytes) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch(bytes)) {
      db.write(writeOptions, batch);
    }
    if (writeOptions.sync()) {
      log.synced();
    }
  }

  private void publish(CommitGroup group) {
    byte[] metadataVersion =
        group.writes().metadataVersionAfter(snapshots.published().state().metadataVersion());
    group.writes().note(snapshots.reader().points(), group.version());
    snapshots.publish(
        new Published(group.version(), new StoreState(db, group.version(), metadataVersion)));
    forgetConflicts();
    history.add(group.version(), group.writtenRanges());
    if (!group.allRecorded()) {
      history.addUnrecorded(group.version());
    }
  }

  /**
   * Half of the history's memory may go to versions that nobody reads but somebody may; the rest is
   * for open transactions, which would lose.
   */
  private void forgetConflicts() {
    history.forgetUpTo(
        history.isHalfFull()
            ? snapshots.oldestUsedVersion(history.floor())
            : snapshots.oldestHeldVersion());
  }

  /** A failing listener changes nothing: what is published is durable. */
  private void tell(CommitGroup group) {
    try {
      listener.accept(group.version());
      group.writes().forEachRangeDeletion(clears);
    } catch (Throwable error) {
      LOG.error("A listener for new versions failed", error);
    }
  }

  private void fail(Throwable error) {
    if (!(error instanceof RocksDBException)) {
      LOG.error("A group of commits failed", error);
    }
    stop(IoFailure.of(error));
  }

  private void stop(IoFailure met) {
    if (trouble == null) {
      trouble = met;
      LOG.error("{} Commits are refused until this is resolved.", met.sentence());
    }
  }
}
