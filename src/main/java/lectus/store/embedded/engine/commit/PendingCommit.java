package lectus.store.embedded.engine.commit;

import com.apple.foundationdb.FDBException;
import java.util.concurrent.CompletableFuture;

/** A commit under way: the request, the future of its answer, and the answer once it is known. */
public final class PendingCommit {
  /** What a mutation and a conflict range take beside their bytes, about. */
  private static final int MUTATION_OVERHEAD = 12;

  private static final int RANGE_OVERHEAD = 16;

  private final CommitRequest request;
  private final CoveredKeys covered;
  private final long bytes;
  private final CompletableFuture<CommitReceipt> future = new CompletableFuture<>();
  private CommitReceipt receipt;
  private FDBException refusal;

  public PendingCommit(CommitRequest request, CoveredKeys covered) {
    this.request = request;
    this.covered = covered;
    this.bytes = weigh(request) + covered.bytes();
  }

  private static long weigh(CommitRequest request) {
    long bytes = 0;
    for (Mutation mutation : request.mutations()) {
      if (mutation instanceof Mutation.Set set) {
        bytes += set.key().length + set.value().length + MUTATION_OVERHEAD;
      } else if (mutation instanceof Mutation.Clear clear) {
        bytes += clear.begin().length + clear.end().length + MUTATION_OVERHEAD;
      } else if (mutation instanceof Mutation.Atomic atomic) {
        bytes += atomic.key().length + atomic.operand().length + MUTATION_OVERHEAD;
      }
    }
    return bytes
        + (long) RANGE_OVERHEAD
            * (request.readConflicts().size() + request.writeConflicts().size());
  }

  CommitRequest request() {
    return request;
  }

  /** Returns the keys of its clears, as listed when the commit was requested. */
  CoveredKeys covered() {
    return covered;
  }

  /** Returns the commit's size in the queue and in a group. */
  long bytes() {
    return bytes;
  }

  public CompletableFuture<CommitReceipt> future() {
    return future;
  }

  /** Notes the receipt of a commit whose group is not durable yet. */
  void accept(CommitReceipt accepted) {
    receipt = accepted;
  }

  /** Notes a failure. */
  void refuse(FDBException error) {
    refusal = error;
  }

  /** Notes that the outcome of the commit is unknown, unless it was refused before. */
  void doubt(FDBException error) {
    if (refusal == null) {
      refusal = error;
    }
  }

  /** Completes the future with the answer. */
  void complete() {
    if (refusal != null) {
      future.completeExceptionally(refusal);
    } else {
      future.complete(receipt);
    }
  }
}
