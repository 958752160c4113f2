package lectus.database;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;

/**
 * Handles of the databases in use, each with the metadata version at which it was last seen to
 * hold. Bounded, so that millions of databases need no memory each; absence is not remembered, so
 * creating a database disturbs nobody.
 */
final class HandleCache {
  private static final int MAX_HANDLES = 10_000;

  private final Cache<DatabaseName, Seen> handles =
      Caffeine.newBuilder().maximumSize(MAX_HANDLES).build();

  /**
   * @param metadataVersion null while the store has none
   */
  record Seen(DatabaseHandle handle, byte[] metadataVersion) {
    boolean holdsAt(byte[] version) {
      return Arrays.equals(metadataVersion, version);
    }
  }

  /** Null if the database is not in the cache. */
  Seen get(DatabaseName name) {
    return handles.getIfPresent(name);
  }

  void put(DatabaseHandle handle, byte[] metadataVersion) {
    handles.put(handle.name(), new Seen(handle, metadataVersion));
  }

  void remove(DatabaseName name) {
    handles.invalidate(name);
  }
}
