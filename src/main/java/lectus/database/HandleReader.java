package lectus.database;

import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.derived.DatabaseFeeds;
import lectus.derived.DatabaseIndexes;
import lectus.store.Awaiting;

/**
 * Reads handles of databases as of a transaction's read version. A cached one costs no read beyond
 * the metadata version's while that has not moved.
 */
final class HandleReader {
  private final CatalogueSubspace entries;
  private final HandleCache handles;
  private final ConfigurationCache glimpses;

  HandleReader(CatalogueSubspace entries, CatalogueCaches caches) {
    this.entries = entries;
    this.handles = caches.handles();
    this.glimpses = caches.glimpses();
  }

  /** As {@link Catalogue#current}; empty if there is no such database. */
  Optional<DatabaseHandle> current(ReadTransaction tx, DatabaseName name) {
    byte[] metadataVersion = Awaiting.await(MetadataVersion.read(tx));
    return settle(check(tx, name, metadataVersion), metadataVersion);
  }

  /** As {@link Catalogue#currentAll}. */
  List<Optional<DatabaseHandle>> currentAll(ReadTransaction tx, List<DatabaseName> names) {
    byte[] metadataVersion = Awaiting.await(MetadataVersion.read(tx));
    List<Check> checks = names.stream().map(name -> check(tx, name, metadataVersion)).toList();
    return checks.stream().map(check -> settle(check, metadataVersion)).toList();
  }

  /**
   * @param cached null if the database is not in the cache, or may have changed since
   * @param reading null if nothing has to be read
   */
  private record Check(
      DatabaseName name,
      DatabaseHandle cached,
      CompletableFuture<Optional<DatabaseHandle>> reading) {}

  private Check check(ReadTransaction tx, DatabaseName name, byte[] metadataVersion) {
    HandleCache.Seen seen = handles.get(name);
    if (seen == null) {
      return new Check(name, null, load(tx, name));
    }
    if (seen.holdsAt(metadataVersion)) {
      return new Check(name, seen.handle(), null);
    }
    return new Check(
        name,
        null,
        isUnchanged(tx, seen.handle())
            .thenCompose(
                unchanged ->
                    unchanged
                        ? CompletableFuture.completedFuture(Optional.of(seen.handle()))
                        : load(tx, name)));
  }

  private Optional<DatabaseHandle> settle(Check check, byte[] metadataVersion) {
    if (check.reading() == null) {
      return Optional.of(check.cached());
    }
    Optional<DatabaseHandle> db = Awaiting.await(check.reading());
    db.ifPresentOrElse(it -> handles.put(it, metadataVersion), () -> handles.remove(check.name()));
    return db;
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

  private static CompletableFuture<DatabaseHandle> load(
      ReadTransaction tx, DatabaseName name, CatalogueSubspace.Entry life) {
    CompletableFuture<DesignListing> designs = DesignListing.read(tx, life.prefix());
    return configuration(tx, life)
        .thenCombine(designs, (content, listed) -> handle(name, life, content, listed));
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

  private static DatabaseHandle handle(
      DatabaseName name,
      CatalogueSubspace.Entry life,
      ConfigSubspace.Content content,
      DesignListing designs) {
    return new DatabaseHandle(
        name,
        life.instance(),
        life.prefix(),
        content.version(),
        content.incarnation(),
        life.createdAtSeconds(),
        life.joined(),
        content.configuration(),
        content.topology(),
        content.security(),
        designs.validator(),
        designs.indexes(),
        designs.feeds(),
        designs.mayHavePurges());
  }

  /** As {@link Catalogue#glimpse}. */
  CompletableFuture<Optional<DatabaseHandle>> glimpse(
      ReadTransaction tx, DatabaseName name, byte[] metadataVersion) {
    HandleCache.Seen seen = handles.get(name);
    if (seen != null && seen.holdsAt(metadataVersion)) {
      return CompletableFuture.completedFuture(Optional.of(seen.handle()));
    }
    ConfigurationCache.Known known = glimpses.known(name, metadataVersion);
    return known != null
        ? CompletableFuture.completedFuture(
            Optional.of(passing(name, entries.entry(known.entry()), known.content())))
        : entry(tx, name).thenCompose(entry -> glimpse(tx, name, entry, metadataVersion));
  }

  private CompletableFuture<Optional<DatabaseHandle>> glimpse(
      ReadTransaction tx, DatabaseName name, byte[] entry, byte[] metadataVersion) {
    Optional<CatalogueSubspace.Entry> life =
        Optional.ofNullable(entry).flatMap(it -> entries.readable(name, it));
    return life.isEmpty()
        ? CompletableFuture.completedFuture(Optional.empty())
        : configuration(tx, life.get())
            .thenApply(
                content -> {
                  glimpses.put(name, entry, content, metadataVersion);
                  return Optional.of(passing(name, life.get(), content));
                });
  }

  private static DatabaseHandle passing(
      DatabaseName name, CatalogueSubspace.Entry life, ConfigSubspace.Content content) {
    return handle(name, life, content, DesignListing.NONE);
  }

  /**
   * What a handle tells of a database's design documents, stored feeds and purges.
   *
   * @param validator the first that asks for every write to be validated
   * @param mayHavePurges as {@link DatabaseHandle} says
   */
  private record DesignListing(
      Optional<String> validator,
      DatabaseIndexes indexes,
      DatabaseFeeds feeds,
      boolean mayHavePurges) {
    static final DesignListing NONE =
        new DesignListing(Optional.empty(), DatabaseIndexes.NONE, DatabaseFeeds.NONE, true);

    private record Designs(Optional<String> validator, DatabaseIndexes indexes) {}

    private record Others(DatabaseFeeds feeds, boolean mayHavePurges) {}

    static CompletableFuture<DesignListing> read(ReadTransaction tx, byte[] prefix) {
      CompletableFuture<Optional<String>> validator = new ValidatorsSubspace(prefix).first(tx);
      CompletableFuture<DatabaseIndexes> indexes =
          new IndexesSubspace(prefix).all(tx).thenApply(DatabaseIndexes::new);
      CompletableFuture<DatabaseFeeds> feeds =
          new FeedsSubspace(prefix).all(tx).thenApply(DatabaseFeeds::new);
      CompletableFuture<Boolean> anyPurge =
          tx.snapshot()
              .getRange(DatabaseSubspace.PURGES.range(prefix), 1)
              .asList()
              .thenApply(rows -> !rows.isEmpty());
      return validator
          .thenCombine(indexes, Designs::new)
          .thenCombine(
              feeds.thenCombine(anyPurge, Others::new),
              (designs, others) ->
                  new DesignListing(
                      designs.validator, designs.indexes, others.feeds, others.mayHavePurges));
    }
  }
}
