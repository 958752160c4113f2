package lectus.relocation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import lectus.relocation.RelocationRound.Places;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.StoreDirectories;
import lectus.store.testing.PlantedBug;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Databases move while they are written, messages are lost, doubled and late, commits are lost, and
 * servers die or sleep while another goes on. What has moved is, row by row, what there was, with
 * each acknowledged write; and at any time at most one place takes writes. {@code
 * -Dlectus.test.relocation-rounds} sets how often.
 */
final class RelocationModelTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** The same, unless this is a run on a cluster: then databases move there, and back. */
  @RegisterExtension static final TestStores embedded = TestStores.alwaysEmbedded();

  private static final int ROUNDS = Integer.getInteger("lectus.test.relocation-rounds", 5);
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_126);
  private static final int MOST_SEEDS = 50;

  private static List<Places> places;

  @BeforeAll
  static void start() throws IOException {
    places =
        TestStores.isCluster()
            ? List.of(
                new Places(embedded::fresh, stores.fresh()),
                new Places(stores::fresh, embedded.fresh()))
            : List.of(new Places(stores::fresh, stores.fresh()));
  }

  @AfterAll
  static void stop() {
    places.forEach(Places::close);
  }

  @Test
  void what_has_moved_is_what_there_was_and_one_place_takes_writes() throws Exception {
    int moved = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      try {
        RelocationRound some = new RelocationRound(places.get(round % places.size()), seed);
        some.run();
        moved += some.hasMoved() ? 1 : 0;
      } catch (RuntimeException | AssertionError failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
    assertThat(moved).isPositive();
    places.forEach(Places::assertSound);
  }

  @Test
  void a_copy_that_breaks_off_goes_on_where_it_was() throws Exception {
    UnreliableRelay relay = places.get(0).relay();
    RelocationRound some = new RelocationRound(places.get(0), SEED);
    String body = "{\"text\":\"" + "x".repeat(10_000) + "\"}";
    for (int i = 0; i < 300; i++) {
      some.put("large" + i, body);
    }
    relay.behave(new Random(SEED));
    relay.cutOnceBehind(2_400_000);
    some.leaveAlone();
    some.move();
    assertThat(relay.streams()).hasSizeGreaterThan(1);
    assertThat(relay.streams().stream().mapToLong(it -> it).sum())
        .as("a whole image has three million bytes")
        .isLessThan(2_400_000 + 2_000_000);
    some.check();
    assertThat(some.hasMoved()).isTrue();
  }

  @Test
  void of_one_that_is_cut_while_it_is_frozen_the_rest_follows() throws Exception {
    UnreliableRelay relay = places.get(0).relay();
    RelocationRound some = new RelocationRound(places.get(0), SEED);
    some.put("large", "{\"text\":\"" + "x".repeat(1_000_000) + "\"}");
    relay.behave(new Random(SEED));
    relay.cutOnceWhen(some::isFrozen);
    some.leaveAlone();
    some.move();
    assertThat(relay.streams()).hasSize(2);
    assertThat(relay.streams().get(1)).as("no image of all").isLessThan(1_000_000);
    some.check();
    assertThat(some.hasMoved()).isTrue();
  }

  private enum Bug {
    /** The former place does not ask whether the other one has opened the database. */
    THAW_BEFORE_ABORTED(
        "relocation/Relocation", "state = ask(now, \"DELETE\");", "state = \"aborted\";", 1),
    /** A tombstone is as old as its version, of whichever store. */
    TOMBSTONE_SWEPT_TOO_EARLY(
        "document/write/TombstoneSweep", ".filter(it -> it.compareTo(begun) >= 0)", "", 1),
    /** An increment does not know of a local document. */
    LOCAL_DOCUMENT_WITHOUT_MARK(
        "changes/log/GoneSubspace",
        """
          public void noteLocal(Transaction tx, String docId) {
            if (Awaiting.await(tx.get(images)) != null) {
        """,
        """
          public void noteLocal(Transaction tx, String docId) {
            if (docId.isEmpty()) {
        """,
        1);

    private final PlantedBug planted;

    /** The first that found it, which is tried first. */
    private final long seed;

    Bug(String type, String right, String wrong, long seed) {
      this.planted = new PlantedBug(type, right, wrong);
      this.seed = seed;
    }
  }

  /** Moves databases within a store in a folder until something is found. */
  public static final class Search implements BiFunction<Path, Long, Optional<AssertionError>> {
    @Override
    public Optional<AssertionError> apply(Path folder, Long first) {
      AtomicInteger made = new AtomicInteger();
      try (Store store = EmbeddedStores.open(folder);
          Places within =
              new Places(
                  () -> StoreDirectories.open(store, List.of("from" + made.incrementAndGet())),
                  StoreDirectories.open(store, List.of("to")))) {
        for (long seed = first; seed < first + MOST_SEEDS; seed++) {
          try {
            new RelocationRound(within, seed).run();
          } catch (AssertionError found) {
            return Optional.of(new AssertionError("seed " + seed, found));
          }
        }
        return Optional.empty();
      } catch (IOException | InterruptedException broken) {
        throw new IllegalStateException(broken);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_planted_bug_is_found(Bug bug, @TempDir Path folder) throws Exception {
    assertThat(bug.planted.found(Search.class, folder, bug.seed))
        .as("what %s seeds find", MOST_SEEDS)
        .isPresent();
  }
}
