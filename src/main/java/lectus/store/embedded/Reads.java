package lectus.store.embedded;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The reads of an attempt. They run on the calling thread and return completed futures, except that
 * a read version in the future is waited for.
 */
final class Reads {
  private final Attempt attempt;

  Reads(Attempt attempt) {
    this.attempt = attempt;
  }

  CompletableFuture<byte[]> get(byte[] key, boolean snapshot) {
    return answer(
        () -> {
          check(Keys.isSpecial(key));
          if (Keys.compare(key, attempt.options.readEnd()) >= 0 && !Keys.isMetadataVersion(key)) {
            throw StoreError.KEY_OUTSIDE_LEGAL_RANGE.exception();
          }
          attempt.hasRead = true;
          return key.length > Keys.readLimit(key) ? null : visible(key, snapshot);
        });
  }

  private byte[] visible(byte[] key, boolean snapshot) {
    WriteMap own = attempt.ownWrites(snapshot);
    KeyState state = own == null ? null : own.state(key);
    if (own != null) {
      if (own.isUnreadable(key) && !attempt.options.bypassUnreadable) {
        throw StoreError.ACCESSED_UNREADABLE.exception();
      }
      if (state != null && !state.isDependent()) {
        byte[] value = state.over(null);
        return value == null ? null : value.clone();
      }
      if (state == null && own.isCleared(key)) {
        return null;
      }
    }
    byte[] stored = stored(key);
    if (!snapshot) {
      attempt.addReadKey(key.clone());
    }
    if (state == null) {
      return stored;
    }
    byte[] value = state.over(stored);
    return value == null ? null : value.clone();
  }

  private byte[] stored(byte[] key) {
    var snapshot = attempt.snapshot();
    return Keys.isMetadataVersion(key)
        ? attempt.environment.engine().metadataVersion(snapshot)
        : snapshot.get(key);
  }

  CompletableFuture<byte[]> getKey(KeySelector selector, boolean snapshot) {
    return answer(
        () -> {
          check(false);
          byte[] end = attempt.options.readEnd();
          if (Keys.compare(selector.getKey(), end) > 0) {
            throw StoreError.KEY_OUTSIDE_LEGAL_RANGE.exception();
          }
          attempt.hasRead = true;
          Position position = Position.of(selector);
          byte[] key = new SelectorResolver(visibleRows(snapshot), end).keyAt(position);
          if (!snapshot) {
            addSelectorConflict(position, key);
          }
          return key.clone();
        });
  }

  private void addSelectorConflict(Position position, byte[] result) {
    if (position.offset() > 0) {
      attempt.addReadRange(position.key(), Keys.after(result));
    } else {
      attempt.addReadRange(result, position.key());
    }
  }

  /** Reads the next rows of a range, as many as one reply of a cluster would hold. */
  CompletableFuture<RangeChunk> getRange(RangeRequest request) {
    if (request.isExactWithoutLimit()) {
      return CompletableFuture.failedFuture(StoreError.EXACT_MODE_WITHOUT_LIMITS.exception());
    }
    return answer(
        () -> {
          check(request.isSpecial());
          request.check(attempt.options.readEnd());
          if (request.isInverted()) {
            return RangeChunk.EMPTY;
          }
          attempt.hasRead = true;
          return new RangeReader(attempt, visibleRows(request.snapshot())).read(request);
        });
  }

  private VisibleRows visibleRows(boolean snapshot) {
    return new VisibleRows(attempt.snapshot(), attempt.ownWrites(snapshot));
  }

  private void check(boolean special) {
    attempt.checkDeferred();
    if (special) {
      throw StoreError.SPECIAL_KEYS_NO_MODULE_FOUND.exception();
    }
    attempt.checkUsable();
  }

  CompletableFuture<Long> getReadVersion() {
    return answer(
        () -> {
          attempt.checkDeferred();
          attempt.checkStopped();
          if (attempt.hasReadVersion()) {
            return attempt.readVersion();
          }
          if (attempt.commitCalled) {
            return attempt.environment.engine().readVersion();
          }
          attempt.snapshot();
          return attempt.readVersion();
        });
  }

  CompletableFuture<Long> getApproximateSize() {
    synchronized (attempt) {
      try {
        attempt.checkDeferred();
        attempt.checkStopped();
      } catch (FDBException error) {
        return CompletableFuture.failedFuture(error);
      }
      return CompletableFuture.completedFuture(attempt.approximateSizeBytes);
    }
  }

  /** Reads a key and watches it from there on; the watch goes live with the commit. */
  CompletableFuture<Void> watch(byte[] key) {
    CompletableFuture<Watch> watch = answer(() -> openWatch(key.clone()));
    return watch.isDone() && !watch.isCompletedExceptionally()
        ? watch.join().future()
        : watch.thenCompose(Watch::future);
  }

  private Watch openWatch(byte[] key) {
    check(false);
    if (attempt.options.readYourWritesDisabled) {
      throw StoreError.WATCHES_DISABLED.exception();
    }
    if (Keys.compare(key, attempt.options.readEnd()) >= 0 && !Keys.isMetadataVersion(key)) {
      throw StoreError.KEY_OUTSIDE_LEGAL_RANGE.exception();
    }
    if (key.length > Keys.writeLimit(key, attempt.options.rawAccess())) {
      throw StoreError.KEY_TOO_LARGE.exception();
    }
    attempt.hasRead = true;
    byte[] seen = visible(key, false);
    Watch watch = attempt.environment.watches().open(key, seen == null ? null : seen.clone());
    attempt.watches.add(watch);
    return watch;
  }

  /** Runs a read now, or as soon as its version has been reached. */
  <T> CompletableFuture<T> answer(Supplier<T> read) {
    synchronized (attempt) {
      try {
        return CompletableFuture.completedFuture(read.get());
      } catch (FDBException error) {
        if (error.getCode() == StoreError.FUTURE_VERSION.code()) {
          return new VersionWait<>(attempt, read).start();
        }
        attempt.noteReadFailure(error);
        return CompletableFuture.failedFuture(error);
      }
    }
  }
}
