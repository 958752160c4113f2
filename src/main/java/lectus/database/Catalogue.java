package lectus.database;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.directory.DirectorySubspace;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DeletedSubspace.Deleted;
import lectus.database.Incarnations.Incarnation;
import lectus.database.Incarnations.Origin;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.Whereabouts.Moved;
import lectus.database.Whereabouts.Secret;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.ReadableRows;
import lectus.store.Store;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.Versionstamp;

/**
 * The databases and their configurations.
 *
 * <p>Every transaction on a database begins with {@link #current}, which costs one snapshot read as
 * long as no administrative change was made. A writing transaction then calls {@link #guard}. So no
 * server writes to a database that was deleted, created again or resharded since the server last
 * looked.
 */
public final class Catalogue {
  private static final long FEW_CONFIGURATIONS_BYTES = 1 << 20;

  private static final String UNSET_SECURITY =
      "{\"members\":{\"roles\":[\"_admin\"]},\"admins\":{\"roles\":[\"_admin\"]}}";

  /** The directory, below the store's, that contains one directory for each life of a database. */
  public static final List<String> DIRECTORY = List.of("databases");

  /** What fits into one value of the store, beside the format number. */
  public static final int MAX_SECURITY_BYTES = ConfigSubspace.MAX_SECURITY_BYTES;

  private final TransactionRunner transactions;
  private final CatalogueVersion version;
  private final UpdatesSubspace updates;
  private final CatalogueSubspace entries;
  private final DirectorySubspace directory;
  private final DeletedSubspace deleted;
  private final RelocationsSubspace relocations;
  private final InstantSource clock;
  private final Supplier<DatabaseSettings> settings;
  private final DatabaseCache cache;
  private final AtomicLong definitions = new AtomicLong();

  public Catalogue(Store store, TransactionRunner transactions, InstantSource clock) {
    this(
        store,
        transactions,
        clock,
        new DatabaseCache(store.rootPrefix(), FEW_CONFIGURATIONS_BYTES),
        () -> DatabaseSettings.DEFAULT);
  }

  public Catalogue(
      Store store,
      TransactionRunner transactions,
      InstantSource clock,
      DatabaseCache cache,
      Supplier<DatabaseSettings> settings) {
    this.deleted = new DeletedSubspace(store.rootPrefix());
    this.relocations = new RelocationsSubspace(store.rootPrefix());
    this.entries = new CatalogueSubspace(store.rootPrefix());
    this.transactions = transactions;
    this.version = new CatalogueVersion(store.rootPrefix());
    this.updates = new UpdatesSubspace(store.rootPrefix());
    this.directory = store.directory();
    this.clock = clock;
    this.settings = settings;
    this.cache = cache;
  }

  /**
   * @throws LectusException {@code file_exists} (412)
   */
  public DatabaseHandle create(DatabaseName name, CreationOptions options) {
    transactions.write(
        tx -> {
          requireAbsent(tx, name);
          begin(tx, name, options);
        });
    return open(name);
  }

  /**
   * @throws LectusException {@code file_exists} (412)
   */
  public void requireAbsent(Transaction tx, DatabaseName name) {
    if (exists(tx, name) || relocations.isReserved(tx, name)) {
      throw fileExists();
    }
  }

  private boolean exists(Transaction tx, DatabaseName name) {
    return Awaiting.await(tx.get(entries.key(name.text()))) != null;
  }

  /**
   * @return the prefix of the new database's keys
   */
  private byte[] begin(Transaction tx, DatabaseName name, CreationOptions options) {
    List<ShardId> shards =
        IntStream.range(0, options.changesShards()).mapToObj(ShardId::numbered).toList();
    DatabaseConfiguration configuration =
        new DatabaseConfiguration(
            DatabaseConfiguration.DEFAULT_REVS_LIMIT,
            options.partitioned(),
            DatabaseConfiguration.DEFAULT_PURGED_INFOS_LIMIT,
            options.layout().orElse(settings.get().layout()));
    Generation first = new Generation(Optional.empty(), HashScheme.DEFAULT, shards, false);
    DatabaseInstance life =
        prepare(
            tx,
            name,
            configuration,
            new ShardTopology(List.of(first), options.partitioned()),
            List.of());
    enter(tx, life, clock.instant().getEpochSecond());
    return life.prefix();
  }

  /**
   * Begins a life of a database that nobody finds, until it {@link #appear}s: it has its directory
   * and a configuration, and is not in the catalogue.
   *
   * @param history the incarnations of what will be stored; none if it begins here
   */
  public DatabaseInstance prepare(
      Transaction tx,
      DatabaseName name,
      DatabaseConfiguration configuration,
      ShardTopology topology,
      List<Incarnation> history) {
    InstanceId instance = newInstance();
    byte[] prefix = Awaiting.await(directory.create(tx, directoryOf(instance))).getKey();
    ConfigSubspace.create(tx, prefix, configuration, topology);
    history.forEach(it -> ConfigSubspace.put(tx, prefix, it));
    return new DatabaseInstance(name, instance, prefix, Versionstamp.ZERO);
  }

  /** Begins to read the rows of a database's configuration, to {@link #configurePrepared} with. */
  public static CompletableFuture<List<KeyValue>> portable(ReadTransaction tx, DatabaseHandle db) {
    return tx.getRange(ConfigSubspace.range(db.prefix()))
        .asList()
        .thenApply(rows -> ConfigSubspace.portable(db.prefix(), rows, db.incarnations()));
  }

  /**
   * Gives a life that was prepared the configuration that another one has.
   *
   * @return the life as it is then
   * @throws lectus.json.MalformedTupleException if the rows cannot be read
   */
  public DatabaseHandle configurePrepared(
      Transaction tx, DatabaseInstance life, List<KeyValue> portable) {
    ConfigSubspace.replace(tx, life.prefix(), portable);
    return prepared(tx, life);
  }

  /** Returns a life that was prepared, for writing its content under the last number of history. */
  public DatabaseHandle prepared(ReadTransaction tx, DatabaseInstance life) {
    return prepared(tx, life, 0);
  }

  private static DatabaseHandle prepared(
      ReadTransaction tx, DatabaseInstance life, long createdAtSeconds) {
    CatalogueSubspace.Entry entry =
        new CatalogueSubspace.Entry(
            life.instance(), life.prefix(), createdAtSeconds, life.joined());
    return Awaiting.await(DatabaseCache.load(tx, life.name(), entry));
  }

  /** Removes a life that was prepared, with all that was stored. */
  public void removePrepared(Transaction tx, DatabaseInstance life) {
    TransactionRunner.freesSpace(tx);
    relocations.release(tx, life);
    Awaiting.await(directory.remove(tx, directoryOf(life.instance())));
  }

  /**
   * Makes everybody find a life that is whole. It is written under a new incarnation, which begins
   * with this transaction. For readers of many databases all of its history comes with it, too. One
   * that has moved is written elsewhere, and has left these readers.
   *
   * @param last the last sequence of its history; empty, or one of zeros, if that has no changes
   * @return the database as it will be once the transaction is committed
   * @throws LectusException {@code file_exists} (412)
   */
  public DatabaseHandle appear(
      Transaction tx,
      DatabaseInstance life,
      long createdAtSeconds,
      Origin origin,
      Optional<Sequence> last) {
    requireAbsent(tx, life.name());
    DatabaseHandle former = prepared(tx, life);
    DatabaseCache.moveMetadataVersion(tx);
    Incarnations history = former.incarnations();
    history.all().forEach(it -> ConfigSubspace.put(tx, life.prefix(), it));
    if (!former.isHere()) {
      ConfigSubspace.touch(tx, life.prefix());
      list(tx, life, createdAtSeconds);
      return former;
    }
    int number = history.current().number() + 1;
    Optional<Sequence> end =
        last.filter(it -> !Arrays.equals(it.versionstamp(), Versionstamp.ZERO.bytes()));
    ConfigSubspace.begin(tx, life.prefix(), number, origin, end);
    enter(tx, life, createdAtSeconds);
    return former.with(history.and(number, origin, end));
  }

  private void enter(Transaction tx, DatabaseInstance life, long createdAtSeconds) {
    updates.created(tx, life.instance(), life.name());
    list(tx, life, createdAtSeconds);
  }

  private void list(Transaction tx, DatabaseInstance life, long createdAtSeconds) {
    entries.enter(tx, life.name().text(), life.instance(), life.prefix(), createdAtSeconds);
    version.move(tx);
  }

  private static InstanceId newInstance() {
    return new InstanceId(UUID.randomUUID().toString().replace("-", ""));
  }

  /**
   * What becomes of databases.
   *
   * @param layout of new ones, unless their creators say otherwise
   * @param keptSeconds for how long those that were deleted can come back
   */
  public record DatabaseSettings(BodyLayout layout, long keptSeconds) {
    public static final DatabaseSettings DEFAULT = new DatabaseSettings(BodyLayout.INLINE, 0);
  }

  /** Frees space, so it is allowed even when the disk is too full for other writes. */
  private InstanceId end(Transaction tx, DatabaseName name) {
    tx.options().setPrioritySystemImmediate();
    byte[] key = entries.key(name.text());
    CatalogueSubspace.Entry life =
        Optional.ofNullable(Awaiting.await(tx.get(key)))
            .map(entries::entry)
            .orElseThrow(Catalogue::doesNotExist);
    Whereabouts whereabouts =
        ConfigSubspace.whereabouts(
            Awaiting.await(tx.get(ConfigSubspace.whereaboutsKey(life.prefix()))));
    DatabaseHandle.requireWritable(whereabouts);
    Optional<SecurityObject> security =
        Optional.ofNullable(Awaiting.await(tx.get(ConfigSubspace.securityKey(life.prefix()))))
            .map(value -> SecurityObject.ofStored(ConfigSubspace.securityJson(value)));
    tx.clear(key);
    if (settings.get().keptSeconds() > 0) {
      keep(tx, name, life);
    } else {
      Awaiting.await(directory.remove(tx, directoryOf(life.instance())));
    }
    if (!(whereabouts instanceof Moved)) {
      updates.deleted(tx, life.instance(), name, life.joined(), security);
    }
    version.move(tx);
    DatabaseCache.moveMetadataVersion(tx);
    return life.instance();
  }

  /**
   * Without its version key nobody takes it for a database that is there. Everything else stays as
   * it is, so that it comes back as what it was: one that has moved is passed on to again.
   */
  private void keep(Transaction tx, DatabaseName name, CatalogueSubspace.Entry life) {
    ConfigSubspace.close(tx, life.prefix());
    Range ofName =
        new Range(
            deleted.key(name.text(), OptionalLong.empty()),
            deleted.behind(name.text(), OptionalLong.empty()));
    long last =
        Awaiting.await(deleted.read(tx, ofName, 1, true)).stream()
            .mapToLong(Deleted::atSeconds)
            .findFirst()
            .orElse(0);
    deleted.put(
        tx,
        new Deleted(
            new DatabaseInstance(name, life.instance(), life.prefix(), life.joined()),
            Math.max(last + 1, clock.instant().getEpochSecond()),
            life.createdAtSeconds()));
  }

  /**
   * Returns a deleted database that is kept.
   *
   * @throws LectusException {@code not_found}
   */
  public Deleted deleted(ReadTransaction tx, DatabaseName name, long atSeconds) {
    return Awaiting.await(deleted.get(tx, name, atSeconds))
        .orElseThrow(() -> LectusException.notFound("missing"));
  }

  public DatabaseHandle former(ReadTransaction tx, Deleted kept) {
    return prepared(tx, kept.life(), kept.createdAtSeconds());
  }

  /**
   * Makes a life that is prepared of a deleted database. It has another instance: nobody takes it
   * for the life that ended.
   *
   * @param isTakenBack whether it is here from now on, though it may have moved
   */
  public DatabaseInstance revive(
      Transaction tx, Deleted kept, DatabaseName name, boolean isTakenBack) {
    InstanceId instance = newInstance();
    List<String> former = directoryOf(kept.life().instance());
    Awaiting.await(directory.move(tx, former, directoryOf(instance)));
    deleted.clear(tx, kept);
    if (isTakenBack) {
      ConfigSubspace.put(tx, kept.life().prefix(), Whereabouts.HERE);
    }
    return new DatabaseInstance(name, instance, kept.life().prefix(), kept.life().joined());
  }

  /** Removes a deleted database with all its rows. Clears one range, however large it is. */
  public void remove(Transaction tx, Deleted kept) {
    removePrepared(tx, kept.life());
    deleted.clear(tx, kept);
  }

  /**
   * Creates a database with CouchDB's usual settings unless it exists, and changes its security
   * object, in a transaction of the caller's.
   *
   * @param change returns the new security object, as JSON
   */
  public void establish(Transaction tx, DatabaseName name, UnaryOperator<byte[]> change) {
    if (!exists(tx, name)) {
      requireAbsent(tx, name);
      byte[] prefix = begin(tx, name, CreationOptions.DEFAULT);
      ConfigSubspace.secure(tx, prefix, change.apply(unsetSecurity()));
      return;
    }
    DatabaseHandle db = current(tx, name);
    byte[] former = Awaiting.await(security(tx, db));
    byte[] json = change.apply(former.clone());
    if (!Arrays.equals(former, json)) {
      secure(tx, db, json);
    }
  }

  /**
   * @return the life that ended, and when
   */
  public CommitResult<InstanceId> delete(DatabaseName name) {
    try {
      return transactions.runVersioned(tx -> end(tx, name));
    } finally {
      cache.handles.invalidate(name);
    }
  }

  /**
   * Returns the current state of the database, in a transaction of its own.
   *
   * @throws LectusException {@code not_found} (404)
   */
  public DatabaseHandle open(DatabaseName name) {
    return transactions.read(tx -> current(tx, name));
  }

  /** As {@link #open}, if memory alone shows it. Never waits, so an event loop may call it. */
  public Optional<DatabaseHandle> recall(DatabaseName name) {
    return transactions.readFromMemory(tx -> Optional.of(current(tx, name)));
  }

  /**
   * Returns the database as of the transaction's read version, from the cache if that is still
   * valid.
   *
   * @throws LectusException {@code not_found} (404): there is none, or it has moved to another
   *     place
   */
  public DatabaseHandle current(ReadTransaction tx, DatabaseName name) {
    DatabaseHandle db = locate(tx, name).orElseThrow(Catalogue::doesNotExist);
    db.moved()
        .ifPresent(
            moved -> {
              throw LectusException.notFound("The database has moved to " + moved.place() + ".");
            });
    return db;
  }

  /** Like {@link #current}, wherever the database is; empty if there is none of the name. */
  public Optional<DatabaseHandle> locate(ReadTransaction tx, DatabaseName name) {
    return cache.current(tx, name);
  }

  /** As {@link #locate}, in a transaction of its own. */
  public Optional<DatabaseHandle> locate(DatabaseName name) {
    return transactions.read(tx -> locate(tx, name));
  }

  /**
   * Returns the database as this server saw it last, wherever it was; empty if that is forgotten.
   */
  public Optional<DatabaseHandle> remembered(DatabaseName name) {
    return cache.remembered(name);
  }

  /** As {@link #locate}, if memory alone shows it. Never waits, so an event loop may call it. */
  public Optional<DatabaseHandle> recallAnywhere(DatabaseName name) {
    return transactions.readFromMemory(tx -> locate(tx, name));
  }

  /**
   * Like {@link #current} for many databases: reads the metadata version once, and everything else
   * in parallel.
   *
   * @return one per name, in order; empty if there is no such database
   */
  public List<Optional<DatabaseHandle>> currentAll(ReadTransaction tx, List<DatabaseName> names) {
    return locateAll(tx, names).stream().map(it -> it.filter(DatabaseHandle::isHere)).toList();
  }

  /** Like {@link #currentAll}, wherever the databases are. */
  public List<Optional<DatabaseHandle>> locateAll(ReadTransaction tx, List<DatabaseName> names) {
    return cache.currentAll(tx, names);
  }

  /**
   * Returns a database as of the transaction's read version, for reading its changes. The handle
   * tells neither its designs nor when its configuration was changed. It is not cached among the
   * handles in use, so reading many databases once evicts none of these.
   *
   * @return empty if there is no such database
   */
  public CompletableFuture<Optional<DatabaseHandle>> glimpse(
      ReadTransaction tx, DatabaseName name, byte[] metadataVersion) {
    return cache
        .configured(tx, name, metadataVersion)
        .thenApply(it -> it.filter(DatabaseHandle::isHere));
  }

  /** Reads the argument of {@link #glimpse}; once per transaction. */
  public byte[] metadataVersion(ReadTransaction tx) {
    return Awaiting.await(DatabaseCache.metadataVersion(tx));
  }

  /**
   * Makes the transaction conflict with any earlier commit that changes this database: its
   * configuration, its deletion, its shard map (RFC 018, Write Path). Call it after {@link
   * #current}, which has obtained the read version.
   */
  public void guard(Transaction tx, DatabaseHandle db) {
    tx.addReadConflictKey(db.versionKey());
    tx.addReadConflictKey(db.shardMapKey());
  }

  /**
   * Invalidates every cached handle of the database and makes concurrent writes conflict with this
   * transaction, because it writes something that handles contain.
   */
  public void moveVersion(Transaction tx, DatabaseHandle db) {
    definitions.incrementAndGet();
    ConfigSubspace.touch(tx, db.prefix());
    DatabaseCache.moveMetadataVersion(tx);
  }

  /**
   * Returns a number that changes before this server commits another definition of anything, of
   * whichever database.
   */
  public long definitions() {
    return definitions.get();
  }

  /**
   * Notes in the updates log that the transaction writes documents of this database, gives it new
   * shards or another security object: one blind row per transaction.
   */
  public void noteUpdate(Transaction tx, DatabaseHandle db) {
    updates.updated(tx, db.instance(), db.name());
  }

  /**
   * Begins a transaction that changes what a database is: {@link #current}, then {@link #guard}.
   *
   * @throws LectusException {@code not_found} (404); Unavailable while it is being moved
   */
  public DatabaseHandle currentForWrites(Transaction tx, DatabaseName name) {
    return currentForUpkeep(tx, name).requireWritable();
  }

  /**
   * Like {@link #currentForWrites}, for rows that follow from what a database is, or that it does
   * not need.
   *
   * @throws LectusException {@code not_found} (404)
   */
  public DatabaseHandle currentForUpkeep(Transaction tx, DatabaseName name) {
    DatabaseHandle db = current(tx, name);
    guard(tx, db);
    return db;
  }

  /** Lets the place that a database came from vouch for its users. */
  public void vouch(Transaction tx, DatabaseHandle db, Secret secret) {
    guard(tx, db);
    ConfigSubspace.vouch(tx, db.prefix(), secret);
    moveVersion(tx, db);
  }

  /**
   * Changes where a database is, in a transaction of the caller's. Writers that have not committed
   * yet conflict with it. For everybody here, one that has moved is no more.
   */
  public void relocate(Transaction tx, DatabaseHandle db, Whereabouts whereabouts) {
    guard(tx, db);
    ConfigSubspace.put(tx, db.prefix(), whereabouts);
    moveVersion(tx, db);
    if (whereabouts instanceof Moved) {
      updates.deleted(tx, db.instance(), db.name(), db.joined(), db.security());
      version.move(tx);
    }
  }

  /** As above, in a transaction of its own. */
  public void relocate(DatabaseName name, Whereabouts whereabouts) {
    transactions.write(tx -> relocate(tx, current(tx, name), whereabouts));
  }

  /**
   * Like {@link #currentForWrites}, for writes that enter the changes index.
   *
   * @return the database as it will be once the transaction is committed
   * @throws LectusException as {@link #currentForWrites}
   */
  public DatabaseHandle currentForChanges(Transaction tx, DatabaseName name) {
    DatabaseHandle db = currentForWrites(tx, name);
    // A database from before shards gets its first shard (RFC 018, Backwards Compatibility).
    return db.topology().current().isDeprecated() ? db.with(new Resharding(tx, db).run(1)) : db;
  }

  /**
   * Makes new shards take the changes from now on (RFC 018, Resharding), while the database is in
   * use: a write that has read the old shard map conflicts and is retried.
   *
   * @param shards number of shards, 1 to {@link CreationOptions#MAX_CHANGES_SHARDS}
   * @return the database as it is from then on
   * @throws LectusException {@code not_found} (404), {@code bad_request} (400); {@code conflict}
   *     (409) if too many generations of shards have rows
   */
  public DatabaseHandle reshard(DatabaseName name, int shards) {
    CreationOptions.checkChangesShards(shards);
    CommitResult<DatabaseHandle> committed =
        transactions.runVersioned(
            tx -> {
              DatabaseHandle db = currentForWrites(tx, name);
              noteUpdate(tx, db);
              return db.with(new Resharding(tx, db).run(shards));
            });
    DatabaseHandle db = committed.value();
    Sequence since = Sequence.of(db.incarnation(), committed.versionstamp(), 0);
    return db.with(db.topology().beginningAt(since));
  }

  /**
   * Changes the configuration. Every server sees the change in its next transaction on the
   * database.
   *
   * @throws LectusException {@code not_found} (404)
   */
  public void configure(DatabaseName name, UnaryOperator<DatabaseConfiguration> change) {
    transactions.write(
        tx -> {
          DatabaseHandle db = currentForWrites(tx, name);
          ConfigSubspace.update(tx, db.prefix(), change.apply(db.configuration()));
          DatabaseCache.moveMetadataVersion(tx);
        });
  }

  /** Returns the security object as JSON; CouchDB's default if none was ever stored. */
  public byte[] security(DatabaseName name) {
    return transactions.read(tx -> Awaiting.await(security(tx, current(tx, name))));
  }

  /** Returns CouchDB's default, which is shown where none was ever stored. */
  private static byte[] unsetSecurity() {
    return UNSET_SECURITY.getBytes(StandardCharsets.UTF_8);
  }

  /** Begins to read the security object as JSON. Each change of it moves the handle's version. */
  public static CompletableFuture<byte[]> security(ReadTransaction tx, DatabaseHandle db) {
    return tx.get(ConfigSubspace.securityKey(db.prefix()))
        .thenApply(value -> value == null ? unsetSecurity() : ConfigSubspace.securityJson(value));
  }

  /**
   * Stores the security object unchanged. Every server sees it in its next transaction on the
   * database, and the updates log has a row, so that whoever waits for the database looks again
   * whether it may be read.
   *
   * @return the database as it was, and the commit
   * @throws LectusException {@code bad_request}: it is not a security object; {@code not_found}
   *     (404)
   */
  public CommitResult<DatabaseHandle> secure(DatabaseName name, byte[] json) {
    SecurityObject.parse(json);
    return transactions.runVersioned(
        tx -> {
          DatabaseHandle db = current(tx, name);
          secure(tx, db, json);
          return db;
        });
  }

  private void secure(Transaction tx, DatabaseHandle db, byte[] json) {
    guard(tx, db.requireWritable());
    ConfigSubspace.secure(tx, db.prefix(), json);
    moveVersion(tx, db);
    noteUpdate(tx, db);
  }

  /** Returns the database of a name; empty if there is none. A snapshot read. */
  public CompletableFuture<Optional<DatabaseInstance>> life(ReadTransaction tx, DatabaseName name) {
    return tx.snapshot()
        .get(entries.key(name.text()))
        .thenApply(
            value ->
                Optional.ofNullable(value)
                    .flatMap(it -> entries.readable(name, it))
                    .map(it -> life(name, it)));
  }

  /**
   * Returns the databases whose names begin with {@code head}, in the order of their names. A
   * snapshot read.
   *
   * @param after only names after this one
   * @param limit maximum number of databases
   */
  public List<DatabaseInstance> lives(
      ReadTransaction tx, String head, Optional<DatabaseName> after, int limit) {
    Range range = entries.startingWith(head);
    byte[] begin = after.map(it -> NameRange.following(entries.key(it.text()))).orElse(range.begin);
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

  /** Returns a text that changes whenever a database is created or deleted. */
  public String version() {
    return transactions.read(tx -> Awaiting.await(version.read(tx)));
  }

  /** Returns names in byte order, as many as one transaction reads. */
  public NameRange.Page names(NameRange range) {
    return transactions.read(tx -> range.read(tx, entries));
  }

  /** Returns those of many databases that exist, each as {@link #glimpse} shows it. */
  public List<DatabaseHandle> glimpses(List<DatabaseName> names) {
    return transactions.read(
        tx -> {
          byte[] metadataVersion = Awaiting.await(DatabaseCache.metadataVersion(tx));
          return names.stream().map(name -> glimpse(tx, name, metadataVersion)).toList().stream()
              .flatMap(reading -> Awaiting.await(reading).stream())
              .toList();
        });
  }

  /** Returns the directory of one life, below the store's. */
  public static List<String> directoryOf(InstanceId instance) {
    return List.of(DIRECTORY.get(0), instance.hex());
  }

  static LectusException doesNotExist() {
    return LectusException.notFound("Database does not exist.");
  }

  private static LectusException fileExists() {
    return new LectusException(
        new LectusError.PreconditionFailed(
            "file_exists", "The database could not be created, the file already exists."));
  }

  /**
   * One life of a database, as listed in the catalogue.
   *
   * @param joined when it began, in the store's commit order, before everything written to it
   */
  public record DatabaseInstance(
      DatabaseName name, InstanceId instance, byte[] prefix, Versionstamp joined) {}
}
