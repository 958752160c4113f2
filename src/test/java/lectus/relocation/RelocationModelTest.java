package lectus.relocation;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.local;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Range;
import io.vertx.core.Vertx;
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
import lectus.database.DatabaseSubspace;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.Sequence;
import lectus.database.Whereabouts;
import lectus.document.edit.Edit;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.client.HttpCaller;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.testing.LectusServer;
import lectus.image.WholeDatabase;
import lectus.relocation.Relocations.RelocationPace;
import lectus.relocation.Relocations.RelocationParts;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Databases move while they are written, messages are lost, doubled and late, commits are lost, and
 * servers die or sleep while another goes on. What has moved is, row by row, what there was, with
 * each acknowledged write; and at any time at most one place takes writes. {@code
 * -Dlectus.test.relocation-rounds} sets how often.
 */
final class RelocationModelTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int ROUNDS = Integer.getInteger("lectus.test.relocation-rounds", 10);
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_126);

  /**
   * A lease that is over at once, so that a server that sleeps is not alone when it wakes up; and
   * many places from where a copy can go on.
   */
  private static final RelocationPace HASTY = new RelocationPace(0, 20, 3_000);

  private static final ExecutorService THREADS = Executors.newCachedThreadPool();
  private static Vertx vertx;
  private static HttpCaller caller;
  private static Store there;
  private static LectusServer server;
  private static UnreliableRelay relay;

  @BeforeAll
  static void start() throws Exception {
    vertx = Vertx.vertx();
    caller = new HttpCaller(vertx, ClientSettings.OF_COMMANDS);
    there = MovedDatabase.withLongPrefixes(stores.fresh());
    server = LectusServer.start(there);
    relay = new UnreliableRelay(server.port());
  }

  @AfterAll
  static void stop() {
    relay.close();
    server.close();
    caller.close();
    vertx.close();
    THREADS.shutdownNow();
  }

  @Test
  void what_has_moved_is_what_there_was_and_one_place_takes_writes() throws Exception {
    int moved = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      try {
        Round some = new Round(seed);
        some.run();
        moved += some.hasMoved() ? 1 : 0;
      } catch (RuntimeException | AssertionError failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
    assertThat(moved).isPositive();
    relay.deliverLate();
    SoundStore.assertSound(there);
  }

  @Test
  void a_copy_that_breaks_off_goes_on_where_it_was() throws Exception {
    Round some = new Round(SEED);
    String body = "{\"text\":\"" + "x".repeat(10_000) + "\"}";
    for (int i = 0; i < 300; i++) {
      some.db.put("large" + i, body);
    }
    relay.behave(new Random(SEED));
    relay.cutOnceBehind(2_400_000);
    some.leaveAlone();
    some.move(true);
    assertThat(relay.streams()).hasSizeGreaterThan(1);
    assertThat(relay.streams().stream().mapToLong(it -> it).sum())
        .as("a whole image has three million bytes")
        .isLessThan(2_400_000 + 2_000_000);
    some.check();
    assertThat(some.hasMoved()).isTrue();
  }

  @Test
  void of_one_that_is_cut_while_it_is_frozen_the_rest_follows() throws Exception {
    Round some = new Round(SEED);
    some.db.put("large", "{\"text\":\"" + "x".repeat(1_000_000) + "\"}");
    relay.behave(new Random(SEED));
    relay.cutOnceWhen(
        () -> some.db.catalogue.open(some.db.name).whereabouts() instanceof Whereabouts.Frozen);
    some.leaveAlone();
    some.move(true);
    assertThat(relay.streams()).hasSize(2);
    assertThat(relay.streams().get(1)).as("no image of all").isLessThan(1_000_000);
    some.check();
    assertThat(some.hasMoved()).isTrue();
  }

  @Test
  void a_thaw_before_the_other_place_has_given_up_is_found() throws Exception {
    Round some = new Round(SEED);
    relay.behave(new Random(SEED));
    relay.lieAboutAborts();
    try {
      some.move(false);
      some.awaitLie();
      assertThat(some.isTakenAtBoth()).as(some.toString()).isTrue();
    } finally {
      relay.tellTheTruth();
      some.end();
    }
  }

  @Test
  void a_local_document_that_is_not_marked_is_found() throws Exception {
    int found = 0;
    for (int round = 0; round < ROUNDS && found == 0; round++) {
      Round some = new Round(SEED + round);
      relay.behave(new Random(SEED));
      some.loseMarks();
      some.move(true);
      found += some.hasMoved() ? some.differences().size() : 0;
    }
    assertThat(found).isPositive();
  }

  /** One move, with writers and a reader of the feed. */
  private static final class Round {
    private static final AtomicLong NAMES = new AtomicLong();

    /** Some documents of such a size are no longer one page of an image. */
    private static final int LONGEST_TEXT = 80_000;

    private final Random random;
    private final FaultyStore faulty;
    private final TestDatabase db;

    /** In each document, so that an image is long in some rounds. */
    private final String text;

    private final String target = "db" + NAMES.incrementAndGet();
    private final List<Relocations> servers = new ArrayList<>();
    private final Map<String, Sequence> seen = new HashMap<>();
    private Optional<Sequence> seenTo = Optional.empty();
    private volatile boolean isStopped;
    private volatile long openThereNanos = Long.MAX_VALUE;
    private volatile long lastBegunNanos = Long.MIN_VALUE;
    private String id = "";

    Round(long seed) {
      this.random = new Random(seed);
      Store store = MovedDatabase.withLongPrefixes(stores.fresh());
      this.faulty = new FaultyStore(store);
      this.db = TestDatabase.create(store);
      this.text = "x".repeat(random.nextInt(3) == 0 ? random.nextInt(LONGEST_TEXT) : 0);
      for (int i = random.nextInt(60); i >= 0; i--) {
        act(random);
      }
    }

    @Override
    public String toString() {
      return departure() + ", open there " + openThereNanos + ", last here " + lastBegunNanos;
    }

    private RelocationParts parts() {
      TestDatabase behindFaults = TestDatabase.open(faulty.store(), "db");
      return new RelocationParts(
          faulty.store(), behindFaults.catalogue, caller, new ToldByHand(), () -> 0);
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

    void loseMarks() {
      lostMarks =
          db.read((tx, handle) -> DatabaseSubspace.GONE.key(handle.prefix()).integer(3).toBytes());
    }

    private byte[] lostMarks = new byte[0];
    private boolean isFaulty;
    private boolean isLeftAlone;
    private final List<CompletableFuture<Void>> clients = new ArrayList<>();

    void run() throws Exception {
      relay.misbehave(random);
      isFaulty = random.nextBoolean();
      move(true);
      check();
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

    void move(boolean toTheEnd) throws Exception {
      servers.add(new Relocations(parts(), HASTY));
      id = current().begin(db.name, relay.url() + "/" + target, OptionalLong.empty()).id();
      if (isFaulty) {
        Random faults = new Random(random.nextLong());
        faulty.keepFailing(() -> fault(faults));
      }
      for (int i = 0; i < 2; i++) {
        Random its = new Random(random.nextLong());
        clients.add(CompletableFuture.runAsync(() -> write(its), THREADS));
      }
      clients.add(CompletableFuture.runAsync(this::look, THREADS));
      try {
        if (toTheEnd) {
          drive();
        }
      } finally {
        if (toTheEnd) {
          end();
        }
      }
    }

    void end() {
      isStopped = true;
      servers.forEach(Relocations::giveBack);
      clients.forEach(CompletableFuture::join);
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
          relay.behave(random);
          faulty.heal();
          stopAllBut(current());
        }
      }
      faulty.heal();
    }

    private void stopAllBut(Relocations last) {
      servers.stream().filter(it -> it != last).forEach(Relocations::giveBack);
    }

    private void write(Random its) {
      while (!isStopped) {
        act(its);
        pause();
      }
    }

    private static void pause() {
      try {
        TimeUnit.MILLISECONDS.sleep(2);
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
      if (lostMarks.length > 0) {
        db.transactions.run(
            tx -> {
              tx.clear(Range.startsWith(lostMarks));
              return null;
            });
      }
      if (outcome instanceof EditOutcome.Failed failed
          && !(failed.error() instanceof LectusError.Conflict)) {
        throw new LectusException(failed.error());
      }
      return !(outcome instanceof EditOutcome.Failed);
    }

    /** Reads the feed here, and looks whether the other place takes writes. */
    private void look() {
      TestDatabase copy = TestDatabase.open(there, target);
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
        pause();
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

    private void check() {
      SoundStore.assertSound(db.store);
      TestDatabase copy = TestDatabase.open(there, target);
      if (!hasMoved()) {
        assertThat(db.catalogue.open(db.name).whereabouts()).isEqualTo(Whereabouts.HERE);
        relay.deliverLate();
        assertThat(server.get("/" + target).status()).isEqualTo(404);
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
      assertThat(differences()).isEmpty();
    }

    /** Whether a write began here, and was stored, when the other place took writes. */
    boolean isTakenAtBoth() {
      return lastBegunNanos > openThereNanos;
    }

    /** Waits until this place is written again, while the other one is, too. */
    void awaitLie() throws InterruptedException {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (!isTakenAtBoth() && deadline - System.nanoTime() > 0) {
        current().step();
        relay.deliverLate();
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }

    List<String> differences() {
      db.transactions.run(
          tx -> {
            DatabaseHandle left = db.catalogue.locate(tx, db.name).orElseThrow();
            db.catalogue.relocate(tx, left, Whereabouts.HERE);
            return null;
          });
      return WholeDatabase.of(TestDatabase.open(there, target)).differencesTo(WholeDatabase.of(db));
    }
  }
}
