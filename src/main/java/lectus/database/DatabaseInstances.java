package lectus.database;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.directory.DirectorySubspace;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import lectus.store.Awaiting;
import lectus.store.ReadableRows;

/** Begins, ends and lists the lives of databases: one from each creation to the next deletion. */
final class DatabaseInstances {
  private final DirectorySubspace directory;
  private final CatalogueSubspace entries;
  private final CatalogueVersion version;
  private final UpdatesSubspace updates;
  private final InstantSource clock;
  private final BodyLayout layout;

  DatabaseInstances(
      DirectorySubspace directory,
      CatalogueSubspace entries,
      CatalogueVersion version,
      UpdatesSubspace updates,
      InstantSource clock,
      BodyLayout layout) {
    this.directory = directory;
    this.entries = entries;
    this.version = version;
    this.updates = updates;
    this.clock = clock;
    this.layout = layout;
  }

  boolean exists(Transaction tx, DatabaseName name) {
    return Awaiting.await(tx.get(entries.key(name.text()))) != null;
  }

  /**
   * @return the prefix of the new database's keys
   */
  byte[] begin(Transaction tx, DatabaseName name, CreationOptions options) {
    InstanceId instance = new InstanceId(UUID.randomUUID().toString().replace("-", ""));
    byte[] prefix = Awaiting.await(directory.create(tx, Catalogue.directoryOf(instance))).getKey();
    List<ShardId> shards =
        IntStream.range(0, options.changesShards()).mapToObj(ShardId::numbered).toList();
    DatabaseConfiguration configuration =
        new DatabaseConfiguration(
            DatabaseConfiguration.DEFAULT_REVS_LIMIT,
            options.partitioned(),
            DatabaseConfiguration.DEFAULT_PURGED_INFOS_LIMIT,
            options.layout().orElse(layout));
    ConfigSubspace.create(tx, prefix, configuration, shards);
    entries.enter(tx, name.text(), instance, prefix, clock.instant().getEpochSecond());
    updates.created(tx, instance, name);
    version.move(tx);
    return prefix;
  }

  /** Frees space, so it is allowed even when the disk is too full for other writes. */
  InstanceId end(Transaction tx, DatabaseName name) {
    tx.options().setPrioritySystemImmediate();
    byte[] key = entries.key(name.text());
    CatalogueSubspace.Entry life =
        Optional.ofNullable(Awaiting.await(tx.get(key)))
            .map(entries::entry)
            .orElseThrow(Catalogue::doesNotExist);
    Optional<SecurityObject> security =
        Optional.ofNullable(Awaiting.await(tx.get(ConfigSubspace.securityKey(life.prefix()))))
            .map(value -> SecurityObject.ofStored(ConfigSubspace.securityJson(value)));
    tx.clear(key);
    Awaiting.await(directory.remove(tx, Catalogue.directoryOf(life.instance())));
    updates.deleted(tx, life.instance(), name, life.joined(), security);
    version.move(tx);
    MetadataVersion.move(tx);
    return life.instance();
  }

  /** As {@link Catalogue#life}. */
  CompletableFuture<Optional<DatabaseInstance>> of(ReadTransaction tx, DatabaseName name) {
    return tx.snapshot()
        .get(entries.key(name.text()))
        .thenApply(
            value ->
                Optional.ofNullable(value)
                    .flatMap(it -> entries.readable(name, it))
                    .map(it -> life(name, it)));
  }

  /** As {@link Catalogue#lives}. */
  List<DatabaseInstance> startingWith(
      ReadTransaction tx, String head, Optional<DatabaseName> after, int limit) {
    Range range = entries.startingWith(head);
    byte[] begin =
        after.map(it -> NameListing.following(entries.key(it.text()))).orElse(range.begin);
    return Awaiting.await(
        ReadableRows.read(
            tx.snapshot(),
            new Range(begin, range.end),
            limit,
            false,
            row -> life(entries.name(row.getKey()), entries.entry(row.getValue()))));
  }

  private static DatabaseInstance life(DatabaseName name, CatalogueSubspace.Entry entry) {
    return new DatabaseInstance(name, entry.instance(), entry.prefix(), entry.joined());
  }
}
