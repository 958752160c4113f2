package lectus.database;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;

/**
 * Caches the catalogue's entries of databases with the usual configuration: one shard and no
 * earlier generation. Their security objects are kept beside the entries. A reader of many
 * databases then need not read each configuration again. All entries hold at one metadata version,
 * which moves with each change of a configuration and each deletion; then all entries are dropped.
 * Thread-safe.
 */
final class ConfigurationCache {
  /** Bytes of an entry besides its name and its value: objects, and the cache's own. */
  private static final int ENTRY_BYTES = 200;

  private static final ConfigSubspace.Content USUAL =
      new ConfigSubspace.Content(
          new byte[0],
          0,
          new DatabaseConfiguration(DatabaseConfiguration.DEFAULT_REVS_LIMIT, false),
          new ShardTopology(
              List.of(
                  new Generation(
                      Optional.empty(), HashScheme.DEFAULT, List.of(ShardId.numbered(0)), false)),
              false),
          Optional.empty());

  private final CacheMetrics figures = new CacheMetrics("configurations");
  private final long mostBytes;
  private volatile Seen seen;

  /**
   * @param metadataVersion the version at which all entries hold; null while the store has none
   */
  private record Seen(byte[] metadataVersion, Cache<DatabaseName, Known> entries) {}

  /**
   * @param entry the value under the database's name in the catalogue
   */
  record Known(byte[] entry, Optional<SecurityObject> security) {
    /** Returns the configuration, which is the usual one. */
    ConfigSubspace.Content content() {
      return new ConfigSubspace.Content(
          USUAL.version(), USUAL.incarnation(), USUAL.configuration(), USUAL.topology(), security);
    }

    private long heapBytes() {
      return entry.length + security.map(SecurityObject::heapBytes).orElse(0L);
    }
  }

  /**
   * @param mostBytes maximum memory of all entries
   */
  ConfigurationCache(long mostBytes) {
    this.mostBytes = mostBytes;
    this.seen = seenAt(null);
  }

  void describe(Meters meters) {
    figures.describe(meters, () -> seen.entries().estimatedSize());
  }

  private Seen seenAt(byte[] metadataVersion) {
    return new Seen(
        metadataVersion,
        figures
            .countedBy(Caffeine.newBuilder())
            .maximumWeight(mostBytes)
            .weigher(
                (DatabaseName name, Known known) ->
                    ENTRY_BYTES + name.text().length() + (int) known.heapBytes())
            .executor(Runnable::run)
            .build());
  }

  /** Returns the configuration of {@link #USUAL} databases. */
  static ConfigSubspace.Content usual() {
    return USUAL;
  }

  /**
   * Returns what is known of the database; null if that is nothing, or may have changed.
   *
   * @param metadataVersion of the asking transaction
   */
  Known known(DatabaseName name, byte[] metadataVersion) {
    Seen now = seen;
    return Arrays.equals(now.metadataVersion(), metadataVersion)
        ? now.entries().getIfPresent(name)
        : null;
  }

  /**
   * Keeps what a transaction has read, if the configuration is the usual one.
   *
   * @param entry the value under the database's name in the catalogue
   * @param metadataVersion of the transaction
   */
  void put(
      DatabaseName name, byte[] entry, ConfigSubspace.Content content, byte[] metadataVersion) {
    if (!isUsual(content)) {
      return;
    }
    Seen now = seen;
    if (!Arrays.equals(now.metadataVersion(), metadataVersion)) {
      now = seenAt(metadataVersion);
      seen = now;
    }
    now.entries().put(name, new Known(entry, content.security()));
  }

  private static boolean isUsual(ConfigSubspace.Content content) {
    return content.incarnation() == USUAL.incarnation()
        && content.configuration().equals(USUAL.configuration())
        && content.topology().equals(USUAL.topology());
  }
}
