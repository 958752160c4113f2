package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.Snapshot;

/**
 * The watches of a database (docs/foundationdb-contract.md, section 10). After a published version
 * one task compares every watched key with its stored value. Versions that are published while it
 * runs share the next task.
 */
final class Watches {
  private final Engine engine;
  private final DatabaseSettings settings;
  private final Executor executor;
  private final Set<Watch> live = ConcurrentHashMap.newKeySet();
  private final AtomicInteger slots = new AtomicInteger();
  private final AtomicBoolean checking = new AtomicBoolean();
  private volatile boolean closed;

  Watches(Engine engine, DatabaseSettings settings, Executor executor) {
    this.engine = engine;
    this.settings = settings;
    this.executor = executor;
  }

  /**
   * A watch that takes a slot until its future is done.
   *
   * @throws com.apple.foundationdb.FDBException 1032 if there is no slot left
   */
  Watch open(byte[] key, byte[] seen) {
    if (slots.incrementAndGet() > settings.maxWatches) {
      slots.decrementAndGet();
      throw StoreError.TOO_MANY_WATCHES.exception();
    }
    CompletableFuture<Void> future = new CompletableFuture<>();
    future.whenComplete((fired, error) -> slots.decrementAndGet());
    return new Watch(key, seen, future);
  }

  /** Sets the watches of a transaction that has committed. */
  void activate(List<Watch> watches) {
    for (Watch watch : watches) {
      live.add(watch);
      watch.future().whenComplete((fired, error) -> live.remove(watch));
    }
    if (closed) {
      close();
    } else if (!watches.isEmpty()) {
      checkSoon();
    }
  }

  /** Told of each published version, on the committer's thread. */
  void published() {
    if (!live.isEmpty()) {
      checkSoon();
    }
  }

  private void checkSoon() {
    if (checking.compareAndSet(false, true)) {
      executor.execute(this::check);
    }
  }

  private void check() {
    checking.set(false);
    if (closed) {
      return;
    }
    try (Snapshot snapshot = engine.latest()) {
      for (Watch watch : live) {
        if (!watch.sees(value(snapshot, watch.key()))) {
          watch.future().complete(null);
        }
      }
    } catch (FDBException notNow) {
      // The store is being opened again and tells when it is.
    } catch (IllegalStateException error) {
      // The database was closed under the check, and its close fails the watches.
      if (!closed) {
        throw error;
      }
    }
  }

  private byte[] value(Snapshot snapshot, byte[] key) {
    return Keys.isMetadataVersion(key) ? snapshot.metadataVersion() : snapshot.get(key);
  }

  /** Cancels what is still watched. */
  void close() {
    closed = true;
    for (Watch watch : live) {
      watch.future().completeExceptionally(StoreError.TRANSACTION_CANCELLED.exception());
    }
  }
}
