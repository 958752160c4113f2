package lectus.store;

import com.apple.foundationdb.FDBException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import lectus.error.FoundationDbError;
import lectus.store.Store.StorePlace;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.CommitRequest;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.testing.FaultyEngine;

/**
 * An embedded store whose commits are answered when a test wants it, or fail with a conflict. It
 * counts what they consist of.
 */
public final class HeldCommits {
  private final AtomicInteger held = new AtomicInteger();
  private final AtomicInteger conflicts = new AtomicInteger();
  private final LongAdder mutations = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

  /** Opens the store, which the caller closes. */
  public Store open(Path data) {
    EmbeddedOptions options = EmbeddedOptions.defaults();
    EmbeddedDatabase database =
        EmbeddedDatabase.on(
            new FaultyEngine(RocksEngine.open(data, options.engine()), this::commit), options);
    return Store.in(
        new StorePlace(
            database,
            List.of("lectus"),
            TransactionLimits.DEFAULT,
            Optional.empty(),
            database::close));
  }

  private CompletableFuture<CommitReceipt> commit(Engine engine, CommitRequest request) {
    CompletableFuture<Void> open = gate;
    mutations.add(request.mutations().size());
    request.mutations().forEach(it -> bytes.add(bytes(it)));
    if (!open.isDone()) {
      held.incrementAndGet();
    }
    boolean isLease = request.mutations().size() == 1;
    return !isLease && conflicts.getAndUpdate(left -> Math.max(0, left - 1)) > 0
        ? open.thenCompose(
            done ->
                CompletableFuture.failedFuture(
                    new FDBException("planned", FoundationDbError.NOT_COMMITTED.code())))
        : open.thenCompose(done -> engine.commit(request));
  }

  private static long bytes(Mutation mutation) {
    if (mutation instanceof Mutation.Set set) {
      return set.key().length + set.value().length;
    } else if (mutation instanceof Mutation.Atomic atomic) {
      return atomic.key().length + atomic.operand().length;
    } else if (mutation instanceof Mutation.Clear clear) {
      return clear.begin().length + clear.end().length;
    }
    return 0;
  }

  /** Returns how many mutations all commits had, as a cluster would get them. */
  public long mutations() {
    return mutations.sum();
  }

  /** Returns the bytes of their keys and values. */
  public long bytes() {
    return bytes.sum();
  }

  /** Keeps the answers to all commits from now on. */
  public void hold() {
    gate = new CompletableFuture<>();
  }

  /** Returns how many commits were ever kept. */
  public int held() {
    return held.get();
  }

  public void release() {
    gate.complete(null);
  }

  /** Has the next commits fail, but for those of leases, which come at any time. */
  public void conflict(int commits) {
    conflicts.set(commits);
  }
}
