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
import lectus.attachment.ChunksSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
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
import lectus.database.RelocationsSubspace.Reached;
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
import lectus.document.write.AutoPurgeSubspace;
import lectus.document.write.Maintenance;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.image.ImageStoring.Former;
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

  /** How far it has come, if it comes from another place. */
  private Arrival arrival;

  private Optional<String> storedInPart;

  /** What they lack; empty before that is known. */
  private Optional<Deque<Late>> late = Optional.empty();

  private List<KeyValue> settings = List.of();
  private long settingsBytes;
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
      Optional<Attempt> attempt,
      Arrival arrival) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.restores = restores;
    this.relocations = relocations;
    this.life = life;
    this.attempt = attempt;
    this.arrival = arrival;
    this.storedInPart = arrival.reached().map(Reached::document).filter(it -> !it.isEmpty());
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
    return new HiddenDatabase(
        catalogue, transactions, restores, relocations, life, attempt, Arrival.receiving(life));
  }

  private static void receive(
      Transaction tx, RelocationsSubspace relocations, Attempt attempt, DatabaseInstance life) {
    requireNew(tx, relocations, attempt);
    relocations.begin(tx, attempt, life);
  }

  private static void requireNew(Transaction tx, RelocationsSubspace relocations, Attempt attempt) {
    if (relocations.arrival(tx, attempt).isPresent()) {
      throw new LectusException(
          new LectusError.PreconditionFailed(
              "relocation_over", "This attempt of the relocation is over."));
    }
  }

  /**
   * Goes on with what an attempt has left that broke off, which stores nothing any more. If it has
   * left nothing, or stored more meanwhile, this one is over, too: whoever sends it may not see the
   * answer soon.
   *
   * @throws LectusException {@code conflict} (409): it has left nothing; {@code relocation_over}
   */
  static HiddenDatabase goOn(
      Store store, Catalogue catalogue, DatabaseName name, Former former, Attempt attempt) {
    RelocationsSubspace relocations = new RelocationsSubspace(store.rootPrefix());
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    RestoresSubspace restores = new RestoresSubspace(store.rootPrefix());
    Arrival left =
        transactions
            .run(
                tx -> {
                  requireNew(tx, relocations, attempt);
                  Optional<Arrival> found =
                      relocations
                          .arrival(tx, former.attempt())
                          .filter(it -> it.standing() == Standing.RECEIVING)
                          .filter(it -> it.reached().isPresent())
                          .filter(it -> it.images() == former.images().orElse(it.images()))
                          .filter(it -> it.life().orElseThrow().name().equals(name))
                          .filter(it -> isKept(tx, restores, it.life().orElseThrow()))
                          .map(it -> takeOver(tx, it));
                  if (found.isPresent()) {
                    DatabaseInstance life = found.get().life().orElseThrow();
                    relocations.abort(tx, former.attempt());
                    relocations.put(tx, attempt, found.get());
                    restores.put(tx, life, Awaiting.await(tx.getReadVersion()));
                  } else {
                    relocations.abort(tx, attempt);
                  }
                  return found;
                })
            .orElseThrow(HiddenDatabase::nothingLeft);
    return new HiddenDatabase(
        catalogue,
        transactions,
        restores,
        relocations,
        left.life().orElseThrow(),
        Optional.of(attempt),
        left);
  }

  /** Removes a content that was stored in part. */
  private static Arrival takeOver(Transaction tx, Arrival left) {
    Reached reached = left.reached().orElseThrow();
    if (!reached.upload().isEmpty()) {
      new ChunksSubspace(left.life().orElseThrow().prefix())
          .clear(tx, new UploadId(reached.upload()));
    }
    return left.at(reached.storing(""));
  }

  private static boolean isKept(
      ReadTransaction tx, RestoresSubspace restores, DatabaseInstance life) {
    return Awaiting.await(restores.renewedAt(tx, life.instance())).isPresent();
  }

  private static LectusException nothingLeft() {
    return new LectusException(
        new LectusError.NotNow("The attempt before has left nothing to go on with."));
  }

  /** Returns, once, a document that an attempt that broke off may have stored in part. */
  Optional<String> takeStoredInPart() {
    Optional<String> taken = storedInPart;
    storedInPart = Optional.empty();
    return taken;
  }

  /** Notes from where another attempt can go on: all before is stored. */
  void reached(byte[] place) {
    arrival = arrival.at(Reached.exactly(place));
    write(this::note);
  }

  /** Notes that a document is stored in more than one transaction. */
  void storesInPart(String document) {
    if (arrival.reached().isPresent()) {
      arrival = arrival.at(arrival.reached().get().within(document));
      write(this::note);
    }
  }

  /** Notes which content of attachments is stored in part. */
  void storesInPart(Transaction tx, Optional<UploadId> upload) {
    if (arrival.reached().isPresent()) {
      arrival = arrival.at(arrival.reached().get().storing(upload.map(UploadId::hex).orElse("")));
      note(tx);
    }
  }

  /** Notes up to which sequence everything has come from another place. */
  void reached(Sequence last) {
    fillLate();
    arrival =
        new Arrival(
            Standing.RECEIVING,
            Optional.of(life),
            0,
            arrival.images() + 1,
            Optional.of(last),
            arrival.reached());
    write(this::note);
  }

  private void note(Transaction tx) {
    relocations.put(tx, attempt.orElseThrow(), arrival);
  }

  /** Keeps what is whole from everybody, until it is decided which place has the database. */
  void standReady(long createdAtSeconds, Sequence last) {
    arrival =
        new Arrival(
            Standing.READY,
            Optional.of(life),
            createdAtSeconds,
            arrival.images(),
            Optional.of(last),
            Optional.empty());
    write(
        tx -> {
          settle(tx);
          restores.put(tx, life, Awaiting.await(tx.getReadVersion()));
          note(tx);
        });
  }

  private void fillLate() {
    while (fillNext()) {
      continue;
    }
    definitions().forEach(it -> complete.orElseThrow().add(it.number()));
    late = Optional.empty();
  }

  /** Returns how much memory the settings take, which are kept to the end. */
  long heldBytes() {
    return settingsBytes;
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
    if (attempt.isPresent() && !isOwn(relocations.arrival(tx, attempt.get()))) {
      throw LectusException.unavailable("Another attempt goes on with the database.");
    }
    long renewed =
        Awaiting.await(restores.renewedAt(tx, life.instance()))
            .orElseThrow(() -> LectusException.unavailable("The restore paused for too long."));
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
    settingsBytes = rows.stream().mapToLong(ImageFrame.Rows::bytes).sum();
    try {
      DatabaseHandle configured = transactions.run(this::configure);
      configured.topology().generations().forEach(it -> generations.put(it.since(), it));
      List<Derived> all = definitions();
      absolute(DatabaseSubspace.NUMBERS).forEach(new DerivedSubspace(life.prefix())::checkNumber);
      absolute(DatabaseSubspace.AUTO_PURGE).forEach(new AutoPurgeSubspace(configured)::decode);
      Views.check(configured, absolute(DatabaseSubspace.VIEWS));
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
                .read(tx, some.shard, EntryRange.after(some.filled, FILLED_AT_ONCE)));
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

  private boolean isOwn(Optional<Arrival> found) {
    return found
        .flatMap(Arrival::life)
        .filter(it -> it.instance().equals(life.instance()))
        .isPresent();
  }

  /** Removes what was stored, unless another attempt can go on with it. */
  void abandon() {
    transactions.run(
        tx -> {
          boolean isMine = true;
          if (attempt.isPresent()) {
            Optional<Arrival> now = relocations.arrival(tx, attempt.get());
            isMine = isOwn(now) && now.get().reached().isEmpty();
          }
          if (isMine && isKept(tx, restores, life)) {
            catalogue.removePrepared(tx, life);
            restores.clear(tx, life.instance());
            attempt.ifPresent(it -> relocations.abort(tx, it));
          }
          return null;
        });
  }
}
