package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.ConflictHistory.GroupConflicts;
import lectus.store.embedded.engine.ConflictHistory.WriteRun;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What overlaps with earlier writes, those of the history and those of the transactions before in a
 * group, and what only touches.
 */
class ConflictHistoryTest {
  private static final int KEYS = 50;
  private static final long UNLIMITED = Long.MAX_VALUE;

  private final GroupConflicts conflicts = new GroupConflicts();

  private record Write(long version, KeyRange range) {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void agrees_with_a_list_of_all_writes(long seed) {
    Random random = new Random(seed);
    ConflictHistory history = new ConflictHistory(0, UNLIMITED);
    List<Write> model = new ArrayList<>();
    long floor = 0;
    for (long version = 10; version < 10_000; version += 10) {
      List<KeyRange> writes = randomRanges(random);
      history.add(version, writes);
      for (KeyRange range : writes) {
        model.add(new Write(version, range));
      }
      if (random.nextInt(100) == 0) {
        floor = Math.max(floor, version - random.nextInt(1000));
        history.forgetUpTo(floor);
      }
      for (int i = 0; i < 5; i++) {
        long since = floor + random.nextInt((int) (version - floor) + 20);
        KeyRange read = randomRange(random);
        assertThat(history.wroteSince(since, read))
            .as("seed %d, version %d, since %d", seed, version, since)
            .isEqualTo(wroteSince(model, since, read));
      }
    }
  }

  @Test
  void touching_ranges_do_not_conflict() {
    ConflictHistory history = new ConflictHistory(0, UNLIMITED);
    history.add(5, List.of(range("b", "d")));

    assertThat(history.wroteSince(4, range("a", "b"))).isFalse();
    assertThat(history.wroteSince(4, range("d", "e"))).isFalse();
    assertThat(history.wroteSince(4, range("a", "b\0"))).isTrue();
    assertThat(history.wroteSince(4, KeyRange.of(bytes("c\u00ff")))).isTrue();
    assertThat(history.wroteSince(5, range("a", "z"))).isFalse();
  }

  @Test
  void forgets_the_oldest_writes_above_its_limit() {
    long weightOfOne = 2 + 1 + WriteRun.ENTRY_OVERHEAD_BYTES;
    ConflictHistory history = new ConflictHistory(0, 3 * weightOfOne);
    for (int version = 1; version <= 3; version++) {
      history.add(version, List.of(KeyRange.of(bytes("k"))));
    }
    assertThat(history.reachesBackTo(0)).isTrue();

    history.add(4, List.of(KeyRange.of(bytes("k"))));

    assertThat(history.reachesBackTo(0)).isFalse();
    assertThat(history.reachesBackTo(1)).isTrue();
    assertThat(history.weight()).isEqualTo(3 * weightOfOne);
  }

  @Test
  void weighs_nothing_once_all_is_forgotten() {
    ConflictHistory history = new ConflictHistory(0, UNLIMITED);
    Random random = new Random(7);
    for (int version = 1; version <= 500; version++) {
      history.add(version, randomRanges(random));
    }
    history.forgetUpTo(500);

    assertThat(history.weight()).isZero();
    assertThat(history.reachesBackTo(499)).isFalse();
    assertThat(history.reachesBackTo(500)).isTrue();
  }

  private static boolean wroteSince(List<Write> model, long since, KeyRange read) {
    for (Write write : model) {
      if (write.version > since
          && java.util.Arrays.compareUnsigned(write.range.begin(), read.end()) < 0
          && java.util.Arrays.compareUnsigned(read.begin(), write.range.end()) < 0) {
        return true;
      }
    }
    return false;
  }

  private static List<KeyRange> randomRanges(Random random) {
    List<KeyRange> ranges = new ArrayList<>();
    int count = random.nextInt(6);
    for (int i = 0; i < count; i++) {
      ranges.add(randomRange(random));
    }
    return ranges;
  }

  private static KeyRange randomRange(Random random) {
    int first = random.nextInt(KEYS);
    return random.nextInt(4) == 0
        ? new KeyRange(key(first), key(first + 1 + random.nextInt(10)))
        : KeyRange.of(key(first));
  }

  private static byte[] key(int number) {
    return new byte[] {'k', (byte) (number * 4)};
  }

  private static KeyRange range(String begin, String end) {
    return new KeyRange(bytes(begin), bytes(end));
  }

  @BeforeEach
  void write() {
    conflicts.add(List.of(range("d", "f"), range("h", "i"), range("k", "m")));
    conflicts.addUnsorted(List.of(range("x", "y"), range("t", "u")));
  }

  @Test
  void finds_what_overlaps_with_the_first_and_the_last_range_by_one_key() {
    assertThat(conflicts.wrote(range("a", "d\0"))).isTrue();
    assertThat(conflicts.wrote(range("l\u00ff", "s"))).isTrue();
    assertThat(conflicts.wrote(range("s", "t\0"))).isTrue();
    assertThat(conflicts.wrote(range("x\u00ff", "z"))).isTrue();
  }

  @Test
  void passes_over_what_ends_where_the_first_begins_or_begins_where_the_last_ends() {
    assertThat(conflicts.wrote(range("a", "d"))).isFalse();
    assertThat(conflicts.wrote(range("m", "t"))).isFalse();
    assertThat(conflicts.wrote(range("y", "z"))).isFalse();
  }

  @Test
  void tells_what_lies_in_a_gap_from_what_reaches_out_of_it() {
    assertThat(conflicts.wrote(range("f", "h"))).isFalse();
    assertThat(conflicts.wrote(range("u", "x"))).isFalse();
    assertThat(conflicts.wrote(range("f", "h\0"))).isTrue();
    assertThat(conflicts.wrote(range("h\u00ff", "k"))).isTrue();
    assertThat(conflicts.wrote(range("a", "z"))).isTrue();
  }
}
