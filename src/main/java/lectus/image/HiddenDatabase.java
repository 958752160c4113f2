package lectus.image;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.DerivedSubspace;
import lectus.database.Incarnations.Origin;
import lectus.database.RelocationsSubspace;
import lectus.database.RelocationsSubspace.Arrival;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Standing;
import lectus.database.RestoresSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.StatisticsSubspace;
import lectus.derived.Derived;
import lectus.derived.DerivedSet;
import lectus.derived.StoredFeed;
import lectus.derived.StoredIndex;
import lectus.derived.rows.DerivedRows.Filling;
import lectus.document.ReadAhead;
import lectus.document.read.DocumentsAhead;
import lectus.document.write.Maintenance;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.json.TupleReader;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;
import lectus.view.Views;

/**
 * A database that is being restored. Nobody finds it until it {@link #appear}s whole; what is left
 * of one that does not is removed.
 *
 * <p>Its topology has all generations that there were since the image was begun: an entry may
 * arrive in one that was emptied meanwhile, before the later entry that takes its place.
 */
final class HiddenDatabase {
  private static final long RENEWAL_VERSIONS = Duration.ofSeconds(20).toNanos() / 1_000;
  private static final int FILLED_AT_ONCE = 500;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final RestoresSubspace restores;
  private final RelocationsSubspace relocations;
  private final DatabaseInstance life;

  /** Empty if it comes from no other place. */
  private final Optional<Attempt> attempt;

  private final Map<Optional<Sequence>, Generation> generations =
      new TreeMap<>(
          Comparator.comparing(
              it -> it.orElse(null), Comparator.nullsFirst(Comparator.naturalOrder())));

  /** The indexes and stored feeds that have rows of all documents. */
  private Optional<Set<Long>> complete = Optional.empty();

  private final Set<Long> derived = new HashSet<>();

  /** How many images have come from the other place, increments included. */
  private long images;

  /** What they lack; empty before that is known. */
  private Optional<Deque<Late>> late = Optional.empty();

  private List<KeyValue> settings = List.of();
  private Optional<DatabaseHandle> db = Optional.empty();

  /** The documents of a shard of which an index or a stored feed may have no rows. */
  private static final class Late {
    private final Derived what;
    private final ShardId shard;
    private final ReadAhead ahead = DocumentsAhead.learning();

    /** The last document of which it has. */
    private Optional<Sequence> filled = Optional.empty();

    Late(Derived what, ShardId shard) {
      this.what = what;
      this.shard = shard;
    }
  }

  private HiddenDatabase(
      Catalogue catalogue,
      TransactionRunner transactions,
      RestoresSubspace restores,
      RelocationsSubspace relocations,
      DatabaseInstance life,
      Optional<Attempt> attempt) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.restores = restores;
    this.relocations = relocations;
    this.life = life;
    this.attempt = attempt;
  }

  /**
   * @param attempt as which it comes from another place; empty if it comes from none
   * @throws LectusException {@code file_exists}, {@code relocation_over} (412)
   */
  static HiddenDatabase begin(
      Store store, Catalogue catalogue, DatabaseName name, Optional<Attempt> attempt) {
    RelocationsSubspace relocations = new RelocationsSubspace(store.rootPrefix());
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    RestoresSubspace restores = new RestoresSubspace(store.rootPrefix());
    ShardTopology first =
        new ShardTopology(
            List.of(
                new Generation(
                    Optional.empty(), HashScheme.JUMP_CRC32, List.of(ShardId.numbered(0)), false)),
            false);
    DatabaseInstance life =
        transactions.run(
            tx -> {
              catalogue.requireAbsent(tx, name);
              DatabaseInstance begun =
                  catalogue.prepare(tx, name, DatabaseConfiguration.DEFAULT, first, List.of());
              restores.put(tx, begun, Awaiting.await(tx.getReadVersion()));
              attempt.ifPresent(it -> receive(tx, relocations, it, begun));
              return begun;
            });
    return new HiddenDatabase(catalogue, transactions, restores, relocations, life, attempt);
  }

  private static void receive(
      Transaction tx, RelocationsSubspace relocations, Attempt attempt, DatabaseInstance life) {
    if (relocations.arrival(tx, attempt).isPresent()) {
      throw new LectusException(
          new LectusError.PreconditionFailed(
              "relocation_over", "This attempt of the relocation is over."));
    }
    relocations.begin(tx, attempt, life);
  }

  /** Notes up to which sequence everything has come from another place. */
  void reached(Sequence last) {
    fillLate();
    images++;
    write(tx -> note(tx, Standing.RECEIVING, 0, last));
  }

  private void note(Transaction tx, Standing standing, long createdAtSeconds, Sequence last) {
    relocations.put(
        tx,
        attempt.orElseThrow(),
        new Arrival(standing, Optional.of(life), createdAtSeconds, images, Optional.of(last)));
  }

  /** Keeps what is whole from everybody, until it is decided which place has the database. */
  void standReady(long createdAtSeconds, Sequence last) {
    write(
        tx -> {
          settle(tx);
          restores.put(tx, life, Awaiting.await(tx.getReadVersion()));
          note(tx, Standing.READY, createdAtSeconds, last);
        });
  }

  private void fillLate() {
    while (fillNext()) {
      continue;
    }
    definitions().forEach(it -> complete.orElseThrow().add(it.number()));
    late = Optional.empty();
  }

  /** Returns the database as documents are written into it now. */
  DatabaseHandle db() {
    return db.orElseThrow();
  }

  byte[] key(KeyValue relative) {
    return ByteArrayUtil.join(life.prefix(), relative.getKey());
  }

  /** Begins a write, which is repeated after conflicts. */
  PendingTransaction<CommitResult<Void>> begin(Consumer<Transaction> body) {
    return transactions.begin(
        tx -> {
          goOn(tx);
          body.accept(tx);
          return null;
        },
        any -> true);
  }

  void write(Consumer<Transaction> body) {
    begin(body).finish();
  }

  <T> T read(Function<ReadTransaction, T> body) {
    return transactions.read(body);
  }

  private void goOn(Transaction tx) {
    long now = Awaiting.await(tx.getReadVersion());
    long renewed =
        Awaiting.await(restores.renewedAt(tx, life.instance()))
            .orElseThrow(
                () ->
                    new LectusException(
                        new LectusError.Unavailable("The restore paused for too long.")));
    if (now - renewed > RENEWAL_VERSIONS) {
      restores.put(tx, life, now);
    }
  }

  /**
   * Takes settings.
   *
   * @throws LectusException {@code bad_image} (400)
   */
  void set(List<KeyValue> rows) {
    settings = rows;
    try {
      DatabaseHandle configured = transactions.run(this::configure);
      configured.topology().generations().forEach(it -> generations.put(it.since(), it));
      List<Derived> all = definitions();
      all.forEach(it -> derived.add(it.number()));
      if (complete.isEmpty()) {
        complete = Optional.of(new HashSet<>(derived));
      }
      db = Optional.of(working(configured, all));
    } catch (MalformedTupleException | IllegalArgumentException unreadable) {
      throw ImageParser.bad("The settings in the image cannot be read.");
    }
  }

  private DatabaseHandle configure(Transaction tx) {
    goOn(tx);
    return catalogue.configurePrepared(tx, life, settings(DatabaseSubspace.CONFIG));
  }

  private List<KeyValue> settings(DatabaseSubspace part) {
    byte[] prefix = part.key(new byte[0]).toBytes();
    return settings.stream().filter(it -> TupleReader.isAtOrBelow(prefix, it.getKey())).toList();
  }

  private List<KeyValue> absolute(DatabaseSubspace part) {
    return settings(part).stream().map(it -> new KeyValue(key(it), it.getValue())).toList();
  }

  private List<Derived> definitions() {
    DerivedSubspace subspace = new DerivedSubspace(life.prefix());
    return absolute(DatabaseSubspace.DERIVED).stream()
        .map(it -> subspace.decode(it).readable())
        .toList();
  }

  private DatabaseHandle working(DatabaseHandle configured, List<Derived> all) {
    return new DatabaseHandle(
        life.name(),
        life.instance(),
        life.prefix(),
        configured.version(),
        configured.incarnations(),
        0,
        life.joined(),
        configured.configuration(),
        new ShardTopology(
            List.copyOf(generations.values()), configured.configuration().partitioned()),
        Optional.empty(),
        List.of(),
        DerivedSet.of(StoredIndex.class, all),
        DerivedSet.of(StoredFeed.class, all),
        false,
        configured.whereabouts(),
        configured.voucher());
  }

  /**
   * Makes everybody find the database.
   *
   * @param last the last sequence of the image
   * @throws LectusException {@code file_exists} (412)
   */
  DatabaseHandle appear(long createdAtSeconds, Sequence last) {
    return transactions.run(
        tx -> {
          goOn(tx);
          settle(tx);
          restores.clear(tx, life.instance());
          return catalogue.appear(tx, life, createdAtSeconds, Origin.RESTORED, Optional.of(last));
        });
  }

  /**
   * Writes some of the rows that an index or a stored feed lacks that was defined later. Returns
   * false if none lacks any.
   */
  boolean fillNext() {
    if (late.isEmpty()) {
      late = Optional.of(late());
    }
    Deque<Late> all = late.get();
    if (all.isEmpty()) {
      return false;
    }
    Late next = all.element();
    Optional<Sequence> reached = transactions.run(tx -> fill(tx, next));
    if (reached.isPresent()) {
      next.filled = reached;
    } else {
      all.remove();
    }
    return true;
  }

  private Deque<Late> late() {
    Deque<Late> all = new ArrayDeque<>();
    for (Derived each : definitions()) {
      if (!complete.orElseThrow().contains(each.number())) {
        for (Generation generation : generations.values()) {
          generation.shards().forEach(shard -> all.add(new Late(each, shard)));
        }
      }
    }
    return all;
  }

  /** Returns the last document that was filled in; empty if there are no others. */
  private Optional<Sequence> fill(Transaction tx, Late some) {
    goOn(tx);
    List<ChangeEntry> entries =
        Awaiting.await(
            new ChangesSubspace(db())
                .read(tx, some.shard, some.filled, Optional.empty(), FILLED_AT_ONCE, false));
    if (entries.isEmpty()) {
      return Optional.empty();
    }
    Filling filling = Maintenance.rows(tx, db(), some.what).fill(tx, entries, some.ahead);
    return Optional.of(entries.get(filling.documents() - 1).sequence());
  }

  /** Writes the last settings, and removes what was written by earlier ones. */
  private void settle(Transaction tx) {
    DatabaseHandle configured =
        catalogue.configurePrepared(tx, life, settings(DatabaseSubspace.CONFIG));
    List<Derived> last = definitions();
    Set<Long> dropped = new HashSet<>(derived);
    DerivedSubspace definitions = new DerivedSubspace(life.prefix());
    for (Derived each : last) {
      definitions.put(tx, each);
      dropped.remove(each.number());
    }
    for (long number : dropped) {
      tx.clear(
          Range.startsWith(
              DatabaseSubspace.DERIVED_ROWS.key(life.prefix()).integer(number).toBytes()));
    }
    List<KeyValue> others = new ArrayList<>(absolute(DatabaseSubspace.NUMBERS));
    others.addAll(absolute(DatabaseSubspace.AUTO_PURGE));
    others.forEach(it -> tx.set(it.getKey(), it.getValue()));
    Views.adopt(tx, db(), absolute(DatabaseSubspace.VIEWS));
    Set<ShardId> shards = new HashSet<>();
    configured.topology().generations().forEach(it -> shards.addAll(it.shards()));
    for (Generation former : generations.values()) {
      former.shards().stream()
          .filter(it -> !shards.contains(it))
          .forEach(it -> tx.clear(StatisticsSubspace.entriesRange(life.prefix(), it)));
    }
    int kept =
        (int) Math.min(configured.configuration().purgedInfosLimit(), PurgesSubspace.MAX_ROWS);
    new PurgesSubspace(db()).keep(tx, kept);
  }

  /**
   * @throws LectusException {@code file_exists} (412) if there is another database of its name
   */
  void requireFree() {
    transactions.run(
        tx -> {
          catalogue.requireAbsent(tx, life.name());
          return null;
        });
  }

  /** Removes what was stored. */
  void remove() {
    transactions.run(
        tx -> {
          if (Awaiting.await(restores.renewedAt(tx, life.instance())).isPresent()) {
            catalogue.removePrepared(tx, life);
            restores.clear(tx, life.instance());
            attempt.ifPresent(it -> relocations.abort(tx, it));
          }
          return null;
        });
  }
}
