package lectus.store.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import lectus.store.contract.model.ModelRun;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.CommitRequest;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.testing.FaultyEngine;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The model test and the ring test find bugs: a faulty store fails them. */
class PlantedBugsTest {
  private static final byte[] PREFIX = {0x15, 0x2a};
  private static final int STEPS = 20_000;

  @TempDir private Path folder;

  /** Possible mistakes of a committer. */
  enum Bug {
    LOSES_READ_RANGES(r -> withReads(r, only(r.readConflicts(), Bug::isPoint))),
    LOSES_READ_POINTS(r -> withReads(r, only(r.readConflicts(), range -> !isPoint(range)))),
    ENDS_READ_RANGES_EARLY(r -> withReads(r, r.readConflicts().stream().map(Bug::cut).toList())),
    LOSES_CLEARED_RANGES(r -> withWrites(r, only(r.writeConflicts(), Bug::isPoint))),
    WIDENS_READ_POINTS(r -> withReads(r, r.readConflicts().stream().map(Bug::widened).toList())),
    SWAPS_MUTATIONS(r -> withMutations(r, reversed(r.mutations()))),
    LOSES_THE_LAST_MUTATION(r -> withMutations(r, withoutLast(r.mutations()))),
    CHECKS_NOTHING(
        r ->
            new CommitRequest(
                -1, List.of(), r.writeConflicts(), r.mutations(), r.allRecorded(), r.urgent()));

    private final UnaryOperator<CommitRequest> change;

    Bug(UnaryOperator<CommitRequest> change) {
      this.change = change;
    }

    private static CommitRequest withReads(CommitRequest r, List<KeyRange> reads) {
      return new CommitRequest(
          r.readVersion(), reads, r.writeConflicts(), r.mutations(), r.allRecorded(), r.urgent());
    }

    private static CommitRequest withWrites(CommitRequest r, List<KeyRange> writes) {
      return new CommitRequest(
          r.readVersion(), r.readConflicts(), writes, r.mutations(), r.allRecorded(), r.urgent());
    }

    private static CommitRequest withMutations(CommitRequest r, List<Mutation> mutations) {
      return new CommitRequest(
          r.readVersion(),
          r.readConflicts(),
          r.writeConflicts(),
          mutations,
          r.allRecorded(),
          r.urgent());
    }

    private static List<KeyRange> only(List<KeyRange> ranges, Predicate<KeyRange> wanted) {
      return ranges.stream().filter(wanted).toList();
    }

    private static boolean isPoint(KeyRange range) {
      return Arrays.equals(range.end(), Arrays.copyOf(range.begin(), range.begin().length + 1));
    }

    private static KeyRange cut(KeyRange range) {
      return KeyRange.of(range.begin());
    }

    private static KeyRange widened(KeyRange range) {
      if (!isPoint(range)) {
        return range;
      }
      byte[] end = Arrays.copyOf(range.begin(), range.begin().length + 1);
      end[range.begin().length] = (byte) 0xff;
      return new KeyRange(range.begin(), end);
    }

    private static List<Mutation> reversed(List<Mutation> mutations) {
      List<Mutation> reversed = new ArrayList<>(mutations);
      Collections.reverse(reversed);
      return reversed;
    }

    private static List<Mutation> withoutLast(List<Mutation> mutations) {
      return mutations.size() < 4 ? mutations : mutations.subList(0, mutations.size() - 1);
    }
  }

  @BeforeEach
  void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @ParameterizedTest
  @EnumSource(Bug.class)
  void the_model_test_finds_a_planted_bug(Bug bug) {
    try (EmbeddedDatabase database = open(bug.change)) {
      ModelRun run = new ModelRun(database, PREFIX, 1);
      assertThatThrownBy(() -> run.run(STEPS)).isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void the_model_test_finds_nothing_in_a_sound_store() {
    try (EmbeddedDatabase database = open(UnaryOperator.identity())) {
      ModelRun run = new ModelRun(database, PREFIX, 1);
      run.run(2_000);
      assertThat(run.won()).isPositive();
    }
  }

  @Test
  void the_ring_test_finds_lost_read_conflicts() throws Exception {
    try (EmbeddedDatabase database = open(Bug.LOSES_READ_POINTS.change)) {
      CycleRun cycle = new CycleRun(database, PREFIX, 4);
      cycle.setUp();
      assertThat(cycle.run(4, 300, 1)).isFalse();
    }
  }

  private EmbeddedDatabase open(UnaryOperator<CommitRequest> bug) {
    EmbeddedOptions options = EmbeddedOptions.defaults();
    RocksEngine sound = RocksEngine.open(folder, options.engine());
    return EmbeddedDatabase.on(
        new FaultyEngine(sound, (engine, request) -> engine.commit(bug.apply(request))), options);
  }
}
