package lectus.store.contract.model;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import lectus.store.contract.model.ModelRun.Difference;
import lectus.store.contract.model.ModelTransaction.Span;
import lectus.store.contract.model.ModelTransaction.View;
import lectus.store.contract.model.ModelTransaction.Write;

/** All commits so far: a full copy of the store for each version. */
final class History {
  private final List<Commit> commits = new ArrayList<>();

  /** One commit: its 10-byte versionstamp, the store after it, and the keys it wrote. */
  record Commit(byte[] versionstamp, NavigableMap<byte[], byte[]> state, List<Span> written) {
    long version() {
      return ByteBuffer.wrap(versionstamp).getLong();
    }
  }

  History(NavigableMap<byte[], byte[]> initial) {
    commits.add(new Commit(new byte[10], initial, List.of()));
  }

  static NavigableMap<byte[], byte[]> emptyState() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  NavigableMap<byte[], byte[]> latest() {
    return commits.get(commits.size() - 1).state();
  }

  /** Returns the state visible at this read version. */
  NavigableMap<byte[], byte[]> at(long readVersion) {
    NavigableMap<byte[], byte[]> state = commits.get(0).state();
    for (Commit commit : commits) {
      if (commit.version() <= readVersion) {
        state = commit.state();
      }
    }
    return state;
  }

  /** Returns whether a commit after that version wrote into one of the spans. */
  boolean wroteAfter(long readVersion, List<Span> spans) {
    return commits.stream()
        .filter(commit -> commit.version() > readVersion)
        .anyMatch(commit -> Span.intersect(commit.written(), spans));
  }

  /** Applies the writes of a transaction with this versionstamp. */
  void commit(byte[] versionstamp, List<Write> writes, List<Span> writeConflicts) {
    byte[] newest = commits.get(commits.size() - 1).versionstamp();
    if (Arrays.compareUnsigned(versionstamp, newest) <= 0) {
      throw new Difference("The versionstamp of a later commit is not higher");
    }
    NavigableMap<byte[], byte[]> state = emptyState();
    state.putAll(latest());
    List<Span> written = new ArrayList<>(writeConflicts);
    for (Write write : writes) {
      View.apply(state, write, versionstamp);
      if (write instanceof Write.StampedKey stamped) {
        written.add(Span.of(View.stamped(stamped.template(), stamped.head(), versionstamp)));
      }
    }
    commits.add(new Commit(versionstamp, state, written));
    forgetOldest();
  }

  /** No transaction of a run stays open for this many commits. */
  private void forgetOldest() {
    if (commits.size() > 400) {
      commits.subList(0, 200).clear();
    }
  }
}
