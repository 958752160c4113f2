package lectus.database;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;

/**
 * Caches the handles of databases in use, each with the metadata version at which it was last known
 * to hold. The cache is bounded, so that millions of databases do not need memory each, nor long
 * security objects. It does not remember absence, so a new database invalidates nothing.
 */
final class HandleCache {
  private static final int MAX_HANDLES = 10_000;

  /** A handle with a security object counts as one more for each so many bytes of it. */
  private static final int BYTES_PER_HANDLE = 1_024;

  private final CacheMetrics figures = new CacheMetrics("databases");

  private final Cache<DatabaseName, Seen> handles =
      figures
          .countedBy(Caffeine.newBuilder())
          .maximumWeight(MAX_HANDLES)
          .weigher((DatabaseName name, Seen seen) -> weight(seen.handle()))
          .build();

  /**
   * @param metadataVersion null while the store has none
   */
  record Seen(DatabaseHandle handle, byte[] metadataVersion) {
    boolean holdsAt(byte[] version) {
      return Arrays.equals(metadataVersion, version);
    }
  }

  private static int weight(DatabaseHandle db) {
    long security = db.security().map(SecurityObject::heapBytes).orElse(0L);
    return 1
        + (int) ((security + db.indexes().heapBytes() + db.feeds().heapBytes()) / BYTES_PER_HANDLE);
  }

  long size() {
    return handles.estimatedSize();
  }

  void describe(Meters meters) {
    figures.describe(meters, handles::estimatedSize);
  }

  /** Returns null if the database is not in the cache. */
  Seen get(DatabaseName name) {
    return handles.getIfPresent(name);
  }

  void put(DatabaseHandle db, byte[] metadataVersion) {
    handles.put(db.name(), new Seen(db, metadataVersion));
  }

  void remove(DatabaseName name) {
    handles.invalidate(name);
  }
}
