package lectus.database;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.github.benmanes.caffeine.cache.Cache;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.derived.Derived;
import lectus.derived.DerivedSet;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.store.Awaiting;

/**
 * Reads databases as of a transaction's read version, and remembers them: the handles of databases
 * in use, and the configurations of those that readers of many databases visit. There are two
 * caches, since such a reader must not push out handles.
 *
 * <p>All that is cached holds as long as FoundationDB's key {@code \xff/metadataVersion} does not
 * move: a store-wide versionstamp that moves with every change of a database's configuration and
 * every deletion. Then a cached handle costs no read but that one. Thread-safe.
 */
public final class DatabaseCache implements Measured {
  private static final byte[] METADATA_VERSION =
      "\u00ff/metadataVersion".getBytes(StandardCharsets.ISO_8859_1);

  /** The only operand that the key accepts: the versionstamp goes to its head. */
  private static final byte[] METADATA_OPERAND = new byte[14];

  private static final int MAX_HANDLES = 10_000;

  /** A handle with a security object counts as one more for each so many bytes of it. */
  private static final int BYTES_PER_HANDLE = 1_024;

  private final CatalogueSubspace entries;
  private final CacheMetrics metrics = new CacheMetrics("databases");

  /** Bounded, so that millions of databases do not need memory each. It remembers no absence. */
  final Cache<DatabaseName, Cached> handles =
      metrics
          .cache()
          .maximumWeight(MAX_HANDLES)
          .weigher((DatabaseName name, Cached cached) -> weight(cached.handle()))
          .build();

  private final Configurations configurations;

  /**
   * @param root the prefix of the store's keys
   */
  public DatabaseCache(byte[] root, long configurationBytes) {
    this.entries = new CatalogueSubspace(root);
    this.configurations = new Configurations(configurationBytes);
  }

  /**
   * @param metadataVersion at which the handle was last known to hold; null while the store has
   *     none
   */
  private record Cached(DatabaseHandle handle, byte[] metadataVersion) {
    boolean holdsAt(byte[] version) {
      return Arrays.equals(metadataVersion, version);
    }
  }

  private static int weight(DatabaseHandle db) {
    long security = db.security().map(SecurityObject::heapBytes).orElse(0L);
    long validators = db.validators().stream().mapToLong(Validator::heapBytes).sum();
    return 1
        + (int)
            ((security + validators + db.indexes().heapBytes() + db.feeds().heapBytes())
                / BYTES_PER_HANDLE);
  }

  /** Returns the number of databases in use lately. */
  public long openDatabases() {
    return handles.estimatedSize();
  }

  @Override
  public void describe(Meters meters) {
    metrics.describe(meters, handles::estimatedSize);
    configurations.describe(meters);
  }

  /**
   * Returns null while nothing was ever changed. A snapshot read: otherwise every write of the
   * store would conflict with every administrative change.
   */
  static CompletableFuture<byte[]> metadataVersion(ReadTransaction tx) {
    return tx.snapshot().get(METADATA_VERSION);
  }

  static void moveMetadataVersion(Transaction tx) {
    tx.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, METADATA_VERSION, METADATA_OPERAND);
  }

  Optional<DatabaseHandle> remembered(DatabaseName name) {
    return Optional.ofNullable(handles.getIfPresent(name)).map(Cached::handle);
  }

  /** As {@link Catalogue#current}; empty if there is no such database. */
  Optional<DatabaseHandle> current(ReadTransaction tx, DatabaseName name) {
    return Awaiting.await(current(tx, name, Awaiting.await(metadataVersion(tx))));
  }

  /** As {@link Catalogue#currentAll}. */
  List<Optional<DatabaseHandle>> currentAll(ReadTransaction tx, List<DatabaseName> names) {
    byte[] version = Awaiting.await(metadataVersion(tx));
    List<CompletableFuture<Optional<DatabaseHandle>>> all =
        names.stream().map(name -> current(tx, name, version)).toList();
    return all.stream().map(Awaiting::await).toList();
  }

  private CompletableFuture<Optional<DatabaseHandle>> current(
      ReadTransaction tx, DatabaseName name, byte[] version) {
    Cached cached = handles.getIfPresent(name);
    if (cached != null && cached.holdsAt(version)) {
      return CompletableFuture.completedFuture(Optional.of(cached.handle()));
    }
    CompletableFuture<Optional<DatabaseHandle>> read =
        cached == null
            ? load(tx, name)
            : isUnchanged(tx, cached.handle())
                .thenCompose(
                    unchanged ->
                        unchanged
                            ? CompletableFuture.completedFuture(Optional.of(cached.handle()))
                            : load(tx, name));
    return read.thenApply(
        db -> {
          db.ifPresentOrElse(
              it -> handles.put(name, new Cached(it, version)), () -> handles.invalidate(name));
          return db;
        });
  }

  private static CompletableFuture<Boolean> isUnchanged(ReadTransaction tx, DatabaseHandle db) {
    CompletableFuture<byte[]> shardMap = tx.snapshot().get(db.shardMapKey());
    return tx.snapshot()
        .get(db.versionKey())
        .thenCombine(
            shardMap,
            (version, current) ->
                Arrays.equals(db.version(), version)
                    && !ConfigSubspace.isReplaced(db.topology().current(), current));
  }

  private CompletableFuture<Optional<DatabaseHandle>> load(ReadTransaction tx, DatabaseName name) {
    return entry(tx, name)
        .thenCompose(
            entry ->
                entry == null
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : load(tx, name, entries.entry(entry)).thenApply(Optional::of));
  }

  static CompletableFuture<DatabaseHandle> load(
      ReadTransaction tx, DatabaseName name, CatalogueSubspace.Entry life) {
    byte[] prefix = life.prefix();
    CompletableFuture<ConfigSubspace.Content> content = configuration(tx, life);
    CompletableFuture<List<Validator>> validators = new ValidatorsSubspace(prefix).all(tx);
    CompletableFuture<List<Derived>> derived = new DerivedSubspace(prefix).all(tx);
    return tx.snapshot()
        .getRange(DatabaseSubspace.PURGES.range(prefix), 1)
        .asList()
        .thenCombine(validators, (purges, all) -> new Designs(all, !purges.isEmpty()))
        .thenCombine(derived, Designs::with)
        .thenCombine(content, (designs, it) -> handle(name, life, it, designs));
  }

  /** Returns the value under the database's name; null if there is none. */
  private CompletableFuture<byte[]> entry(ReadTransaction tx, DatabaseName name) {
    return tx.snapshot().get(entries.key(name.text()));
  }

  private static CompletableFuture<ConfigSubspace.Content> configuration(
      ReadTransaction tx, CatalogueSubspace.Entry life) {
    return tx.snapshot()
        .getRange(ConfigSubspace.range(life.prefix()))
        .asList()
        .thenApply(rows -> ConfigSubspace.read(life.prefix(), rows));
  }

  /**
   * What a handle says of a database's design documents, stored feeds and purges.
   *
   * @param validators those that validate every write
   * @param mayHavePurges as {@link DatabaseHandle} says
   */
  private record Designs(List<Validator> validators, boolean mayHavePurges, List<Derived> derived) {
    private static final Designs UNKNOWN = new Designs(List.of(), true);

    Designs(List<Validator> validators, boolean mayHavePurges) {
      this(validators, mayHavePurges, List.of());
    }

    Designs with(List<Derived> all) {
      return new Designs(validators, mayHavePurges, all);
    }
  }

  private static DatabaseHandle handle(
      DatabaseName name,
      CatalogueSubspace.Entry life,
      ConfigSubspace.Content content,
      Designs designs) {
    return new DatabaseHandle(
        name,
        life.instance(),
        life.prefix(),
        content.version(),
        Incarnations.of(content.incarnations(), life.joined()),
        life.createdAtSeconds(),
        life.joined(),
        content.configuration(),
        content.topology(),
        content.security(),
        designs.validators(),
        DerivedSet.of(StoredIndex.class, designs.derived()),
        DerivedSet.of(StoredFeed.class, designs.derived()),
        designs.mayHavePurges(),
        content.whereabouts(),
        content.voucher());
  }

  /** As {@link Catalogue#glimpse}. */
  CompletableFuture<Optional<DatabaseHandle>> configured(
      ReadTransaction tx, DatabaseName name, byte[] version) {
    Cached cached = handles.getIfPresent(name);
    if (cached != null && cached.holdsAt(version)) {
      return CompletableFuture.completedFuture(Optional.of(cached.handle()));
    }
    Configurations.Known known = configurations.known(name, version);
    return known != null
        ? CompletableFuture.completedFuture(
            Optional.of(
                handle(name, entries.entry(known.entry()), known.content(), Designs.UNKNOWN)))
        : entry(tx, name).thenCompose(entry -> configured(tx, name, entry, version));
  }

  private CompletableFuture<Optional<DatabaseHandle>> configured(
      ReadTransaction tx, DatabaseName name, byte[] entry, byte[] version) {
    Optional<CatalogueSubspace.Entry> life =
        Optional.ofNullable(entry).flatMap(it -> entries.readable(name, it));
    return life.isEmpty()
        ? CompletableFuture.completedFuture(Optional.empty())
        : configuration(tx, life.get())
            .thenApply(
                content -> {
                  configurations.put(name, entry, content, version);
                  return Optional.of(handle(name, life.get(), content, Designs.UNKNOWN));
                });
  }

  /**
   * Caches the catalogue's entries of databases with the usual configuration: one shard and no
   * earlier generation. Their security objects are kept beside the entries. All entries hold at one
   * metadata version; when it has moved, all are dropped.
   */
  static final class Configurations {
    /** Bytes of an entry besides its name and its value: objects, and the cache's own. */
    private static final int ENTRY_BYTES = 200;

    static final ConfigSubspace.Content USUAL =
        new ConfigSubspace.Content(
            new byte[0],
            List.of(),
            new DatabaseConfiguration(DatabaseConfiguration.DEFAULT_REVS_LIMIT, false),
            new ShardTopology(
                List.of(
                    new Generation(
                        Optional.empty(), HashScheme.DEFAULT, List.of(ShardId.numbered(0)), false)),
                false),
            Optional.empty(),
            Whereabouts.HERE,
            Optional.empty());

    private final CacheMetrics metrics = new CacheMetrics("configurations");
    private final long mostBytes;
    private volatile Held held;

    /**
     * @param metadataVersion the version at which all entries hold; null while the store has none
     */
    private record Held(byte[] metadataVersion, Cache<DatabaseName, Known> entries) {}

    /**
     * @param entry the value under the database's name in the catalogue
     */
    record Known(byte[] entry, Optional<SecurityObject> security) {
      /** Returns the configuration, which is the usual one. */
      ConfigSubspace.Content content() {
        return new ConfigSubspace.Content(
            USUAL.version(),
            USUAL.incarnations(),
            USUAL.configuration(),
            USUAL.topology(),
            security,
            USUAL.whereabouts(),
            USUAL.voucher());
      }

      private long heapBytes() {
        return entry.length + security.map(SecurityObject::heapBytes).orElse(0L);
      }
    }

    /**
     * @param mostBytes maximum memory of all entries
     */
    Configurations(long mostBytes) {
      this.mostBytes = mostBytes;
      this.held = heldAt(null);
    }

    private void describe(Meters meters) {
      metrics.describe(meters, () -> held.entries().estimatedSize());
    }

    private Held heldAt(byte[] version) {
      return new Held(
          version,
          metrics
              .cache()
              .maximumWeight(mostBytes)
              .weigher(
                  (DatabaseName name, Known known) ->
                      ENTRY_BYTES + name.text().length() + (int) known.heapBytes())
              .build());
    }

    /**
     * Returns what is known of the database; null if that is nothing, or may have changed.
     *
     * @param version the asking transaction's
     */
    Known known(DatabaseName name, byte[] version) {
      Held now = held;
      return Arrays.equals(now.metadataVersion(), version)
          ? now.entries().getIfPresent(name)
          : null;
    }

    /**
     * Keeps what a transaction has read, if the configuration is the usual one.
     *
     * @param entry the value under the database's name in the catalogue
     * @param version of the transaction
     */
    void put(DatabaseName name, byte[] entry, ConfigSubspace.Content content, byte[] version) {
      boolean isUsual =
          content.incarnations().isEmpty()
              && content.configuration().equals(USUAL.configuration())
              && content.topology().equals(USUAL.topology())
              && content.whereabouts().equals(USUAL.whereabouts())
              && content.voucher().isEmpty();
      if (!isUsual) {
        return;
      }
      Held now = held;
      if (!Arrays.equals(now.metadataVersion(), version)) {
        now = heldAt(version);
        held = now;
      }
      now.entries().put(name, new Known(entry, content.security()));
    }
  }
}
