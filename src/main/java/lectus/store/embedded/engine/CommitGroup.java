package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.List;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.CommitQueue.PendingCommit;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.ConflictHistory.GroupConflicts;

/**
 * The commits that share one version and one synced write. Each is checked against the history and
 * against the earlier commits of the group, then resolved into plain writes.
 */
final class CommitGroup {
  private static final long BYTES_FOR_THE_LEASE = 256;

  private final long version;
  private final ConflictHistory history;

  /** The committer is the only writer, so between its writes the published state is the latest. */
  private final SnapshotRegistry snapshots;

  /** They are ahead of the published state while a group is resolved. */
  private final AtomicValues atomicValues;

  private final GroupWrites writes;
  private final List<KeyRange> writtenRanges;
  private final GroupConflicts conflicts = new GroupConflicts();
  private boolean allRecorded = true;
  private int accepted;

  CommitGroup(
      long version,
      List<PendingCommit> commits,
      ConflictHistory history,
      SnapshotRegistry snapshots,
      AtomicValues atomicValues) {
    this.version = version;
    this.history = history;
    this.snapshots = snapshots;
    this.atomicValues = atomicValues;
    int expectedWrites = 0;
    int expectedRanges = 0;
    long expectedBytes = BYTES_FOR_THE_LEASE;
    for (PendingCommit commit : commits) {
      expectedWrites += commit.request().mutations().size();
      expectedRanges += commit.request().writeConflicts().size();
      expectedBytes += commit.bytes();
    }
    this.writes = new GroupWrites(expectedWrites, expectedBytes);
    this.writtenRanges = new ArrayList<>(expectedRanges);
    commits.forEach(this::addOrBlame);
  }

  /** The group ends if a commit cannot be resolved; that commit is told why. */
  private void addOrBlame(PendingCommit commit) {
    try {
      add(commit);
    } catch (FDBException unreadable) {
      commit.refuse(unreadable);
      throw unreadable;
    } catch (RuntimeException fault) {
      commit.refuse(FoundationDbError.COMMIT_UNKNOWN_RESULT.exception());
      throw fault;
    }
  }

  /** Decides on one commit. The group's earlier commits count as committed. */
  private void add(PendingCommit commit) {
    CommitRequest request = commit.request();
    FDBException refusal = refusal(request);
    if (refusal != null) {
      commit.refuse(refusal);
      return;
    }
    int batchOrder = accepted++;
    allRecorded &= request.allRecorded();
    resolve(request, commit.covered(), batchOrder);
    commit.accept(new CommitReceipt(version, batchOrder));
  }

  long version() {
    return version;
  }

  GroupWrites writes() {
    return writes;
  }

  List<KeyRange> writtenRanges() {
    return writtenRanges;
  }

  /** Returns whether these ranges contain all writes. */
  boolean allRecorded() {
    return allRecorded;
  }

  boolean isEmpty() {
    return accepted == 0;
  }

  private FDBException refusal(CommitRequest request) {
    if (request.readVersion() < 0) {
      return null;
    }
    if (version - request.readVersion() > StoreSnapshot.WINDOW_VERSIONS) {
      return FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
    if (request.readConflicts().isEmpty()) {
      return null;
    }
    if (!history.reachesBackTo(request.readVersion())) {
      return FoundationDbError.TRANSACTION_TOO_OLD.exception();
    }
    return hasConflict(request) || hidesWhatIsThere(request)
        ? FoundationDbError.NOT_COMMITTED.exception()
        : null;
  }

  /**
   * Returns whether a range to be covered holds rows. Writes outside all conflict ranges raise no
   * conflict.
   */
  private boolean hidesWhatIsThere(CommitRequest request) {
    for (Mutation mutation : request.mutations()) {
      if (mutation instanceof Mutation.Cover cover && !isStillEmpty(cover, request.readVersion())) {
        return true;
      }
    }
    return false;
  }

  private boolean isStillEmpty(Mutation.Cover cover, long seenEmpty) {
    if (!writes.setKeysIn(cover.begin(), cover.end()).isEmpty()) {
      return false;
    }
    if (!history.mayHaveChangedSince(seenEmpty, new KeyRange(cover.begin(), cover.end()))) {
      return true;
    }
    List<byte[]> stored = fewKeys(cover.begin(), cover.end());
    return stored != null && stored.isEmpty();
  }

  private boolean hasConflict(CommitRequest request) {
    for (KeyRange range : request.readConflicts()) {
      if (history.wroteSince(request.readVersion(), range) || conflicts.wrote(range)) {
        return true;
      }
    }
    return false;
  }

  private void resolve(CommitRequest request, CoveredKeys covered, int batchOrder) {
    List<KeyRange> ranges = request.writeConflicts();
    int rangesCleared = 0;
    List<KeyRange> stamped = new ArrayList<>(0);
    for (Mutation mutation : request.mutations()) {
      if (mutation instanceof Mutation.Set set) {
        set(set.key(), set.value());
      } else if (mutation instanceof Mutation.Clear clear) {
        if (clear.isOfOneKey()) {
          delete(clear.begin());
        } else {
          clear(clear, covered, rangesCleared++);
        }
      } else if (mutation instanceof Mutation.Atomic atomic) {
        apply(atomic, batchOrder, stamped);
      } else if (mutation instanceof Mutation.Cover cover) {
        writes.cover(cover.begin(), cover.end());
      }
    }
    writtenRanges.addAll(ranges);
    conflicts.add(ranges);
    if (!stamped.isEmpty()) {
      writtenRanges.addAll(stamped);
      conflicts.addUnsorted(stamped);
    }
  }

  private void apply(Mutation.Atomic atomic, int batchOrder, List<KeyRange> stamped) {
    byte[] key = atomic.key();
    byte[] operand = atomic.operand();
    MutationType type = atomic.type();
    switch (type) {
      case SET_VERSIONSTAMPED_KEY -> {
        byte[] stampedKey = CommitStamp.resolve(key, version, batchOrder);
        set(stampedKey, operand);
        stamped.add(KeyRange.of(stampedKey));
      }
      case SET_VERSIONSTAMPED_VALUE -> set(key, CommitStamp.resolve(operand, version, batchOrder));
      default -> {
        byte[] existing = existing(key);
        byte[] result = AtomicOperations.apply(type, existing, operand);
        if (result != null) {
          if (result != existing) {
            writes.set(key, result);
          }
          atomicValues.remember(key, result);
        } else if (existing != null) {
          delete(key);
        }
      }
    }
  }

  private byte[] existing(byte[] key) {
    byte[] remembered = atomicValues.find(key);
    if (remembered != null) {
      return remembered;
    }
    GroupWrites.Found found = writes.find(key);
    return found.effect() == GroupWrites.Effect.NONE
        ? snapshots.reader().get(snapshots.published().state().pointReads(), key)
        : found.value();
  }

  private void set(byte[] key, byte[] value) {
    atomicValues.forget(key);
    writes.set(key, value);
  }

  private void delete(byte[] key) {
    atomicValues.forget(key);
    writes.delete(key);
  }

  private void clear(Mutation.Clear clear, CoveredKeys covered, int number) {
    List<byte[]> stored = storedKeys(clear, covered, number);
    List<byte[]> fresh = writes.setKeysIn(clear.begin(), clear.end());
    if (stored == null || stored.size() + fresh.size() > StoreReader.FEW_KEYS) {
      atomicValues.forgetAll();
      writes.deleteRange(clear.begin(), clear.end());
      return;
    }
    stored.forEach(this::delete);
    fresh.forEach(this::delete);
  }

  /**
   * A range that held many keys may hold few now. A range tombstone is correct for those as well.
   */
  private List<byte[]> storedKeys(Mutation.Clear clear, CoveredKeys covered, int number) {
    if (covered.has(number)) {
      List<byte[]> listed = covered.lists.get(number);
      if (listed == null
          || !history.mayHaveChangedSince(
              covered.version(), new KeyRange(clear.begin(), clear.end()))) {
        return listed;
      }
    }
    return fewKeys(clear.begin(), clear.end());
  }

  /** Returns the stored keys in [begin, end), or null if there are more than a few. */
  private List<byte[]> fewKeys(byte[] begin, byte[] end) {
    return snapshots.reader().fewKeys(snapshots.published().state(), begin, end);
  }
}
