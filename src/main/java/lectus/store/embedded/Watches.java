package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.error.FoundationDbError;
import lectus.store.embedded.AttemptOptions.DatabaseSettings;
import lectus.store.embedded.engine.Engine;
import lectus.store.embedded.engine.StoreSnapshot;

/**
 * The watches of a database (docs/foundationdb-contract.md, section 10). After a version is
 * published, one task compares every watched key with its stored value. Versions published while it
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
   * Opens a watch, which takes a slot until its future is done.
   *
   * @throws com.apple.foundationdb.FDBException 1032 if no slot is left
   */
  Watch open(byte[] key, byte[] seen, Executor callbacks) {
    if (slots.incrementAndGet() > settings.maxWatches) {
      slots.decrementAndGet();
      throw FoundationDbError.TOO_MANY_WATCHES.exception();
    }
    CompletableFuture<Void> future = new CompletableFuture<>();
    future.whenComplete((fired, error) -> slots.decrementAndGet());
    return new Watch(key, seen, future, callbacks);
  }

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

  /** Called for each published version, on the committer's thread. */
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
    try (StoreSnapshot snapshot = engine.latest()) {
      for (Watch watch : live) {
        if (!watch.sees(value(snapshot, watch.key()))) {
          live.remove(watch);
          watch.fire();
        }
      }
    } catch (FDBException notNow) {
      // The store is being reopened and will publish a version afterwards.
    } catch (IllegalStateException error) {
      // The database was closed during the check; closing it fails the watches.
      if (!closed) {
        throw error;
      }
    }
  }

  private byte[] value(StoreSnapshot snapshot, byte[] key) {
    return KeySpace.isMetadataVersion(key) ? snapshot.metadataVersion() : snapshot.get(key);
  }

  /** Cancels the remaining watches. */
  void close() {
    closed = true;
    for (Watch watch : live) {
      watch.future().completeExceptionally(FoundationDbError.TRANSACTION_CANCELLED.exception());
    }
  }

  /**
   * A watch and the value that its transaction saw.
   *
   * @param seen the value, or null if the key was missing
   * @param executor runs what depends on the future
   */
  record Watch(byte[] key, byte[] seen, CompletableFuture<Void> future, Executor executor) {
    void fire() {
      EmbeddedDatabase.callBack(executor, () -> future.complete(null));
    }

    boolean sees(byte[] value) {
      return Arrays.equals(seen, value);
    }
  }

  /**
   * The watches of one attempt until its commit activates them, guarded by the attempt's monitor.
   */
  static final class WatchList {
    private List<Watch> watches = List.of();

    /** Watches triggered by an own write, which fire once the monitor is released. */
    private List<Watch> triggered = List.of();

    void add(Watch watch) {
      if (watches.isEmpty()) {
        watches = new ArrayList<>(1);
      }
      watches.add(watch);
    }

    void written(byte[] key, byte[] value) {
      if (!watches.isEmpty()) {
        trigger(watch -> Arrays.compareUnsigned(watch.key(), key) == 0 && !watch.sees(value));
      }
    }

    void cleared(byte[] begin, byte[] end) {
      if (!watches.isEmpty()) {
        trigger(
            watch ->
                Arrays.compareUnsigned(watch.key(), begin) >= 0
                    && Arrays.compareUnsigned(watch.key(), end) < 0
                    && !watch.sees(null));
      }
    }

    /** Notes an atomic operation, whose outcome is not known yet. */
    void changed(byte[] key) {
      if (!watches.isEmpty()) {
        trigger(watch -> Arrays.compareUnsigned(watch.key(), key) == 0);
      }
    }

    private void trigger(java.util.function.Predicate<Watch> condition) {
      for (Watch watch : List.copyOf(watches)) {
        if (condition.test(watch)) {
          watches.remove(watch);
          if (triggered.isEmpty()) {
            triggered = new ArrayList<>(1);
          }
          triggered.add(watch);
        }
      }
    }

    /** Completes the triggered watches. Called outside the attempt's monitor. */
    void fire() {
      List<Watch> firing = triggered;
      if (!firing.isEmpty()) {
        triggered = List.of();
        firing.forEach(watch -> watch.future().complete(null));
      }
    }

    /** Hands over the watches that have not fired. */
    List<Watch> take() {
      List<Watch> taken = watches;
      watches = List.of();
      return taken;
    }
  }
}
