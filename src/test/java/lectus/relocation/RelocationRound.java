package lectus.relocation;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.local;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.testing.MovedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.database.DatabaseHandle;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.Sequence;
import lectus.database.Whereabouts;
import lectus.document.edit.Edit;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.AutoPurge;
import lectus.document.write.EditOutcome;
import lectus.document.write.SweepMetrics;
import lectus.document.write.TombstoneSweep;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.client.HttpCaller;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.testing.Conversation;
import lectus.http.testing.LectusServer;
import lectus.http.testing.SocketClient;
import lectus.image.WholeDatabase;
import lectus.json.JsonValue.JsonObject;
import lectus.relocation.Relocations.RelocationPace;
import lectus.relocation.Relocations.RelocationParts;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.LeasedRounds;
import lectus.store.Store;

/**
 * One move of a database that is written and read meanwhile, while messages are lost, doubled and
 * late, commits are lost, and servers die or sleep while another goes on.
 */
final class RelocationRound {
  /** Some documents of such a size are no longer one page of an image. */
  private static final int LONGEST_TEXT = 80_000;

  private static final int WRITES_AT_A_PACE = 100;
  private static final int MOST_DOUBLINGS = 7;

  /**
   * A lease that is over at once, so that a server that sleeps is not alone when it wakes up; and
   * many places from where a copy can go on.
   */
  private static final RelocationPace HASTY = new RelocationPace(0, 20, 20, 3_000);

  private final Places places;
  private final UnreliableRelay relay;
  private final Random random;
  private final FaultyStore faulty;
  private final TestDatabase db;

  /** In each document, so that an image is long in some rounds. */
  private final String text;

  private final String target;
  private final List<Relocations> servers = new ArrayList<>();
  private final List<CompletableFuture<Void>> clients = new ArrayList<>();
  private final Map<String, Sequence> seen = new HashMap<>();
  private Optional<Sequence> seenTo = Optional.empty();
  private boolean isFaulty;
  private boolean isLeftAlone;
  private volatile boolean isStopped;
  private volatile long openThereNanos = Long.MAX_VALUE;
  private volatile long lastBegunNanos = Long.MIN_VALUE;
  private String id = "";

  /** Where databases come from, each from a store of its own, and the place that they go to. */
  static final class Places implements AutoCloseable {
    private static final long KEPT_SECONDS = 3_600;

    private final Supplier<Store> formers;
    private final Store there;
    private final LectusServer server;
    private final UnreliableRelay relay;
    private final Vertx vertx = Vertx.vertx();
    private final HttpCaller caller = new HttpCaller(vertx, ClientSettings.OF_COMMANDS);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicLong names = new AtomicLong();
    private final TombstoneSweep sweep;

    /** A database that was always at the other place. */
    private final TestDatabase neighbour;

    private RevisionId written;

    /** Far behind the time of the server, which has a sweep of its own. */
    private long seconds = 4_000_000_000L;

    Places(Supplier<Store> formers, Store there) throws IOException {
      this.formers = formers;
      this.there = MovedDatabase.withLongPrefixes(there);
      this.server = LectusServer.start(there);
      this.relay = new UnreliableRelay(server.port());
      this.neighbour = TestDatabase.create(there, "neighbour");
      this.sweep =
          new TombstoneSweep(
              there,
              neighbour.catalogue,
              neighbour.writer,
              new SweepMetrics(),
              () -> Instant.ofEpochSecond(seconds),
              LeasedRounds.withoutPause(there, "the sweep of a test"));
    }

    UnreliableRelay relay() {
      return relay;
    }

    /** Removes the tombstones that have been there for as long as databases keep them. */
    private void sweepLater() {
      seconds += KEPT_SECONDS;
      boolean more = true;
      while (more) {
        more = sweep.step();
      }
    }

    /** Writes the one document of the neighbour again. */
    private void writeNearby() {
      written = neighbour.put("nearby", written, "{}");
    }

    void assertSound() {
      relay.deliverLate();
      SoundStore.assertSound(there);
    }

    @Override
    public void close() {
      relay.close();
      server.close();
      caller.close();
      vertx.close();
      threads.shutdownNow();
    }
  }

  RelocationRound(Places places, long seed) {
    this.places = places;
    this.relay = places.relay;
    this.random = new Random(seed);
    this.target = "db" + places.names.incrementAndGet();
    Store store = MovedDatabase.withLongPrefixes(places.formers.get());
    this.faulty = new FaultyStore(store);
    this.db = TestDatabase.create(store);
    new AutoPurge(db.catalogue, db.transactions)
        .put(
            db.name,
            TestDatabase.utf8("{\"deleted_document_ttl\":\"" + Places.KEPT_SECONDS + "_s\"}"));
    this.text = "x".repeat(random.nextInt(3) == 0 ? random.nextInt(LONGEST_TEXT) : 0);
    for (int i = random.nextInt(60); i >= 0; i--) {
      act(random);
    }
  }

  private RelocationParts parts() {
    TestDatabase behindFaults = TestDatabase.open(faulty.store(), "db");
    return new RelocationParts(
        faulty.store(), behindFaults.catalogue, places.caller, new ToldByHand(), () -> 0);
  }

  private Relocations current() {
    return servers.get(servers.size() - 1);
  }

  private Departure departure() {
    return current().get(id);
  }

  boolean hasMoved() {
    return departure().phase() == Phase.MOVED;
  }

  boolean isFrozen() {
    return db.catalogue.open(db.name).whereabouts() instanceof Whereabouts.Frozen;
  }

  void run() throws InterruptedException {
    relay.misbehave(random);
    isFaulty = random.nextBoolean();
    move();
    check();
  }

  void put(String docId, String body) {
    db.put(docId, body);
  }

  /** Its servers neither die nor sleep. */
  void leaveAlone() {
    isLeftAlone = true;
  }

  private static Fault fault(Random random) {
    return switch (random.nextInt(20)) {
      case 0 -> Fault.UNKNOWN_BUT_STORED;
      case 1 -> Fault.UNKNOWN_AND_LOST;
      case 2 -> Fault.NOT_COMMITTED;
      default -> Fault.NONE;
    };
  }

  /** Moves it, or finds out that it stays. */
  void move() throws InterruptedException {
    places.sweepLater();
    servers.add(new Relocations(parts(), HASTY));
    places.writeNearby();
    id = current().begin(db.name, relay.url() + "/" + target, OptionalLong.empty()).id();
    if (isFaulty) {
      Random faults = new Random(random.nextLong());
      faulty.keepFailing(() -> fault(faults));
    }
    for (int i = 0; i < 2; i++) {
      Random its = new Random(random.nextLong());
      clients.add(CompletableFuture.runAsync(() -> write(its), places.threads));
    }
    clients.add(CompletableFuture.runAsync(this::look, places.threads));
    try {
      drive();
    } finally {
      isStopped = true;
      servers.forEach(Relocations::giveBack);
      clients.forEach(CompletableFuture::join);
    }
  }

  private static <T> T db(Supplier<T> action) {
    while (true) {
      try {
        return action.get();
      } catch (FDBException | LectusException again) {
        assertThat(again.getMessage()).doesNotContain("bad_request");
      }
    }
  }

  /** Servers die, and sleep while another goes on. */
  private void drive() throws InterruptedException {
    int kills = isLeftAlone ? 0 : random.nextInt(3);
    int sleepers = isLeftAlone ? 0 : random.nextInt(3);
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
    while (!db(() -> departure().phase().isOver())) {
      assertThat(deadline - System.nanoTime()).as(departure().toString()).isPositive();
      db(() -> current().step());
      switch (random.nextInt(20)) {
        case 0 -> {
          if (kills-- > 0) {
            current().giveBack();
            servers.add(new Relocations(parts(), HASTY));
          }
        }
        case 1 -> {
          if (sleepers-- > 0) {
            servers.add(new Relocations(parts(), HASTY));
          }
        }
        case 2 -> relay.deliverLate();
        case 4 -> stopAllBut(current());
        default -> TimeUnit.MILLISECONDS.sleep(random.nextInt(10));
      }
      if (db(this::departure).attempt() > 3) {
        relay.passCopies();
        faulty.heal();
        stopAllBut(current());
      }
    }
    faulty.heal();
  }

  private void stopAllBut(Relocations last) {
    servers.stream().filter(it -> it != last).forEach(Relocations::giveBack);
  }

  /** Writes less and less often, so that on a busy machine, too, a copy comes to its end. */
  private void write(Random its) {
    for (int writes = 0; !isStopped; writes++) {
      act(its);
      pause(2 << Math.min(MOST_DOUBLINGS, writes / WRITES_AT_A_PACE));
    }
  }

  private static void pause(int millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** One write, if the place takes it. */
  private void act(Random its) {
    long begun = System.nanoTime();
    String doc = "d" + its.nextInt(30);
    try {
      if (write(doc, its)) {
        synchronized (this) {
          lastBegunNanos = Math.max(lastBegunNanos, begun);
        }
      }
    } catch (LectusException refused) {
      assertThat(refused.error())
          .isInstanceOfAny(LectusError.Unavailable.class, LectusError.NotFound.class);
    }
  }

  private boolean write(String doc, Random its) {
    String body = "{\"n\":" + its.nextInt(1_000) + ",\"text\":\"" + text + "\"}";
    Optional<EditBranch> winner = db.branches(doc).stream().findFirst();
    Optional<RevisionId> base = winner.map(EditBranch::leaf);
    boolean isLive = winner.isPresent() && !winner.get().deleted();
    return switch (its.nextInt(12)) {
      case 0 -> isStored(local("l" + its.nextInt(5), "0-" + its.nextInt(5), body));
      case 1 -> base.isPresent() && isStored(Purging.of(doc, base.get()));
      case 2 -> isLive && isStored(deletion(doc, base.get()));
      default -> isStored(edit(doc, isLive ? base.get() : null, body));
    };
  }

  private boolean isStored(Edit edit) {
    EditOutcome outcome = db.write(edit);
    if (outcome instanceof EditOutcome.Failed failed
        && !(failed.error() instanceof LectusError.Conflict)) {
      throw new LectusException(failed.error());
    }
    return !(outcome instanceof EditOutcome.Failed);
  }

  /** Reads the feed here, and looks whether the other place takes writes. */
  private void look() {
    TestDatabase copy = TestDatabase.open(places.there, target);
    while (!isStopped) {
      try {
        read(db.changes());
      } catch (LectusException gone) {
        assertThat(gone.error()).isInstanceOf(LectusError.NotFound.class);
      }
      try {
        copy.transactions.run(tx -> copy.catalogue.currentForWrites(tx, copy.name));
        openThereNanos = Math.min(openThereNanos, System.nanoTime());
      } catch (LectusException notYet) {
        assertThat(notYet.error()).isInstanceOf(LectusError.NotFound.class);
      }
      pause(2);
    }
  }

  private void read(List<ChangeEntry> entries) {
    for (ChangeEntry entry : entries) {
      if (seenTo.isEmpty() || entry.sequence().compareTo(seenTo.get()) > 0) {
        seenTo = Optional.of(entry.sequence());
        seen.put(entry.docId(), entry.sequence());
      }
    }
  }

  void check() {
    SoundStore.assertSound(db.store);
    TestDatabase copy = TestDatabase.open(places.there, target);
    if (!hasMoved()) {
      assertThat(db.catalogue.open(db.name).whereabouts()).isEqualTo(Whereabouts.HERE);
      relay.deliverLate();
      places.server.get("/" + target).expect(404);
      assertThat(openThereNanos).isEqualTo(Long.MAX_VALUE);
      return;
    }
    assertThat(isTakenAtBoth()).isFalse();
    assertThat(copy.catalogue.open(copy.name).incarnation()).isOne();
    assertThat(copy.catalogue.open(copy.name).voucher()).isPresent();
    // The feed goes on from where it was read here.
    List<ChangeEntry> all = copy.changes();
    read(all);
    all.forEach(it -> assertThat(seen).containsEntry(it.docId(), it.sequence()));
    // What has come is as old as it is here.
    places.sweepLater();
    assertThat(differences()).isEmpty();
    List<String> ids = new ArrayList<>(List.of("nearby"));
    all.forEach(it -> ids.add(it.docId()));
    readAmongMany(ids);
  }

  /**
   * @param at from where a reader goes on behind it
   */
  private record Row(String id, String at) {}

  /** A reader of many databases goes on amid the history of one that has come. */
  private void readAmongMany(List<String> ids) {
    List<Row> all = rowsAmongMany("0");
    assertThat(all).extracting(Row::id).isEqualTo(ids);
    int last = random.nextInt(all.size());
    assertThat(rowsAmongMany(all.get(last).at())).isEqualTo(all.subList(last + 1, all.size()));
  }

  private List<Row> rowsAmongMany(String since) {
    List<Row> rows = new ArrayList<>();
    try (Conversation client = Conversation.with(places.server)) {
      client.subscribe("s", "'db':['neighbour','" + target + "'],'since':'" + since + "'");
      JsonObject message = client.socket().message();
      while (SocketClient.text(message, "type").equals("row")) {
        rows.add(new Row(Conversation.docId(message), SocketClient.text(message, "at")));
        message = client.socket().message();
      }
    }
    return rows;
  }

  /** Whether a write began here, and was stored, when the other place took writes. */
  private boolean isTakenAtBoth() {
    return lastBegunNanos > openThereNanos;
  }

  private List<String> differences() {
    db.transactions.run(
        tx -> {
          DatabaseHandle left = db.catalogue.locate(tx, db.name).orElseThrow();
          db.catalogue.relocate(tx, left, Whereabouts.HERE);
          return null;
        });
    return WholeDatabase.of(TestDatabase.open(places.there, target))
        .differencesTo(WholeDatabase.of(db));
  }
}
