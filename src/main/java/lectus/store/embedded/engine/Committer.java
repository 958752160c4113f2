package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import lectus.error.FoundationDbError;
import lectus.metrics.DaemonThreads;
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
 * store then has to be reopened. So it does after an Error between the write and the publishing.
 * What is thrown before anything is written ends only its own group.
 */
public final class Committer {
  private static final Logger LOG = LoggerFactory.getLogger(Committer.class);

  /** Initialized, with its class, before memory is short, as in {@link CommitQueue}. */
  private static final IoFailure UNNAMED = IoFailure.UNNAMED;

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

  /** Whether something was handed to RocksDB and its outcome is not dealt with yet. */
  private boolean handedOver;

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
    CommitGroup group = null;
    try {
      group = new CommitGroup(nextVersion(), commits, history, snapshots, atomicValues);
      if (!group.isEmpty()) {
        write(group);
        tell(group);
      }
    } catch (Throwable error) {
      if (handedOver) {
        fail(error);
        if (group == null) {
          refuse(commits);
        } else {
          doubt(commits);
        }
      } else {
        refuse(commits, error);
      }
    }
  }

  private void refuse(List<PendingCommit> commits) {
    commits.forEach(commit -> commit.refuseWithGroup(trouble.refusal()));
  }

  /**
   * Refuses a group of which nothing is stored. Its clients may try again, but for the one whose
   * commit was at fault, which has been {@linkplain CommitGroup refused} for itself.
   */
  private void refuse(List<PendingCommit> commits, Throwable error) {
    // The cached values include writes that will never be stored.
    atomicValues.forgetAll();
    DaemonThreads.complain(
        LOG, "A group of commits failed before it was written; nothing of it is stored", error);
    FDBException refusal =
        FoundationDbError.COMMIT_PROXY_MEMORY_LIMIT_EXCEEDED.exception(
            "The store could not take the commit, and nothing of it is stored.");
    commits.forEach(commit -> commit.refuseWithGroup(refusal));
  }

  /** Takes no memory if nothing is known. */
  private void doubt(List<PendingCommit> commits) {
    if (trouble.beforeWriting()) {
      refuse(commits);
      return;
    }
    for (int i = 0; i < commits.size(); i++) {
      commits.get(i).doubt();
    }
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
    } catch (Throwable error) {
      if (handedOver) {
        fail(error);
      } else {
        DaemonThreads.complain(
            LOG, "The readable version could not be raised; the next turn tries again", error);
      }
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
      handedOver = false;
    }
    return version;
  }

  private void writeCeiling(byte[] value) throws RocksDBException {
    GroupWrites writes = new GroupWrites(0, 0);
    writes.batch.put(SystemKeys.VERSION_CEILING, value);
    writeBatch(writes.batch.toByteArray());
  }

  private void write(CommitGroup group) throws RocksDBException {
    GroupWrites writes = group.writes();
    if (!writes.batch.isEmpty()) {
      boolean extend = lease.isShort();
      long ceiling = lease.proposedCeiling();
      if (extend) {
        writes.batch.put(SystemKeys.VERSION_CEILING, SystemKeys.encodeVersion(ceiling));
      }
      writeBatch(writes.batch.toByteArray());
      if (extend) {
        lease.extendTo(ceiling);
      }
    }
    handedOver = true;
    publish(group);
    handedOver = false;
  }

  private void writeBatch(byte[] bytes) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch(bytes)) {
      handedOver = true;
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
      DaemonThreads.complain(LOG, "A listener for new versions failed", error);
    }
  }

  private void fail(Throwable error) {
    // Whatever the reason, nothing may be committed on top of this, and to note that takes no
    // memory.
    IoFailure met = UNNAMED;
    try {
      met = IoFailure.of(error);
    } finally {
      stop(met);
      if (!(error instanceof RocksDBException)) {
        DaemonThreads.complain(LOG, "A group of commits failed", error);
      }
    }
  }

  private void stop(IoFailure met) {
    if (trouble == null) {
      trouble = met;
      try {
        LOG.error("{} Commits are refused until this is resolved.", met.sentence());
      } catch (Throwable unsaid) {
        // Memory may be too short for it.
      }
    }
  }
}
