package lectus.store.embedded.engine;

import com.apple.foundationdb.FDBException;
import java.util.concurrent.CompletableFuture;

/**
 * A commit on its way: what was asked, the future of the answer, and the answer once it is known.
 */
final class PendingCommit {
  private final CommitRequest request;
  private final CoveredKeys covered;
  private final long bytes;
  private final CompletableFuture<CommitReceipt> future = new CompletableFuture<>();
  private CommitReceipt receipt;
  private FDBException refusal;

  PendingCommit(CommitRequest request, CoveredKeys covered) {
    this.request = request;
    this.covered = covered;
    this.bytes = weigh(request) + covered.bytes();
  }

  private static long weigh(CommitRequest request) {
    long bytes = 0;
    for (Mutation mutation : request.mutations()) {
      if (mutation instanceof Mutation.Set set) {
        bytes += set.key().length + set.value().length + 12;
      } else if (mutation instanceof Mutation.Clear clear) {
        bytes += clear.begin().length + clear.end().length + 12;
      } else if (mutation instanceof Mutation.Atomic atomic) {
        bytes += atomic.key().length + atomic.operand().length + 12;
      }
    }
    return bytes + 16L * (request.readConflicts().size() + request.writeConflicts().size());
  }

  CommitRequest request() {
    return request;
  }

  /** What was known of its clears when it was asked for. */
  CoveredKeys covered() {
    return covered;
  }

  /** What the commit weighs in the queue and in a group. */
  long bytes() {
    return bytes;
  }

  CompletableFuture<CommitReceipt> future() {
    return future;
  }

  /** Takes note of the answer of a commit whose group is not durable yet. */
  void accept(CommitReceipt accepted) {
    receipt = accepted;
  }

  /** Takes note of a failure. */
  void refuse(FDBException error) {
    refusal = error;
  }

  /** Takes note that it is unknown what became of the commit, unless it was refused before. */
  void doubt(FDBException error) {
    if (refusal == null) {
      refusal = error;
    }
  }

  /** Gives the answer to whoever waits for it. */
  void complete() {
    if (refusal != null) {
      future.completeExceptionally(refusal);
    } else {
      future.complete(receipt);
    }
  }
}
