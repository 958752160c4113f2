package lectus.store.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.List;
import java.util.Random;
import lectus.store.embedded.Attempt.ConflictRanges;
import lectus.store.embedded.OwnWrites.RangeSet;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import org.junit.jupiter.api.Test;

final class ConflictRangesTest {
  private static final int KEYS = 24;

  private final ConflictRanges ranges = new ConflictRanges();

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private List<String> merged() {
    return ranges.merged().stream().map(ConflictRangesTest::text).toList();
  }

  private static String text(KeyRange range) {
    return new String(range.begin(), ISO_8859_1) + ".." + new String(range.end(), ISO_8859_1);
  }

  @Test
  void nothing_gives_nothing() {
    assertThat(ranges.isEmpty()).isTrue();
    assertThat(merged()).isEmpty();
  }

  @Test
  void a_key_is_the_range_up_to_the_next_key() {
    ranges.add(bytes("a"), null);

    assertThat(merged()).containsExactly("a..a\0");
  }

  @Test
  void ranges_come_out_sorted() {
    ranges.add(bytes("m"), bytes("n"));
    ranges.add(bytes("z"), null);
    ranges.add(bytes("a"), bytes("b"));

    assertThat(merged()).containsExactly("a..b", "m..n", "z..z\0");
  }

  @Test
  void overlapping_and_touching_ranges_are_one() {
    ranges.add(bytes("a"), bytes("c"));
    ranges.add(bytes("b"), bytes("d"));
    ranges.add(bytes("d"), bytes("e"));
    ranges.add(bytes("b"), null);

    assertThat(merged()).containsExactly("a..e");
  }

  @Test
  void neighbouring_keys_stay_apart() {
    ranges.add(bytes("a"), null);
    ranges.add(bytes("b"), null);

    assertThat(merged()).containsExactly("a..a\0", "b..b\0");
  }

  @Test
  void takes_more_ranges_than_it_has_room_for_at_first() {
    for (char c = 'z'; c >= 'a'; c--) {
      ranges.add(bytes(String.valueOf(c)), null);
    }

    assertThat(merged()).hasSize(26).startsWith("a..a\0").endsWith("z..z\0");
  }

  private static byte[] key(int i) {
    return new byte[] {(byte) (200 + i)};
  }

  @Test
  void holds_what_was_added_and_not_removed() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      RangeSet ranges = new RangeSet();
      BitSet model = new BitSet(KEYS);
      for (int step = 0; step < 30; step++) {
        int begin = random.nextInt(KEYS);
        int end = begin + 1 + random.nextInt(KEYS - begin);
        if (random.nextInt(3) > 0) {
          ranges.add(key(begin), key(end));
          model.set(begin, end);
        } else {
          ranges.remove(key(begin), key(end));
          model.clear(begin, end);
        }
        assertSame(ranges, model, seed);
      }
    }
  }

  private static void assertSame(RangeSet ranges, BitSet model, int seed) {
    for (int i = 0; i < KEYS; i++) {
      assertThat(ranges.contains(key(i))).as("seed %d, key %d", seed, i).isEqualTo(model.get(i));
    }
    int runs = 0;
    for (int i = model.nextSetBit(0); i >= 0; i = model.nextSetBit(model.nextClearBit(i))) {
      runs++;
    }
    assertThat(ranges.all()).as("seed %d", seed).hasSize(runs);
    for (int begin = 0; begin < KEYS; begin += 5) {
      int end = begin + 4;
      int next = model.nextSetBit(begin);
      boolean intersects = next >= 0 && next < end;
      assertThat(ranges.intersects(key(begin), key(end))).isEqualTo(intersects);
      assertThat(ranges.intersecting(key(begin), key(end)).isEmpty()).isEqualTo(!intersects);
    }
  }
}
