package lectus.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import lectus.store.embedded.OwnWrites.RangeSet;
import org.junit.jupiter.api.Test;

/** Compares the set with one bit per key. */
final class RangeSetTest {
  private static final int KEYS = 24;

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
