package lectus.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.StreamingMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import lectus.store.embedded.RangeRead.RangeChunk;
import lectus.store.embedded.RangeRead.RangeCursor;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many rows a fetch returns. Each stored row here counts 4 + 72 + 24 = 100 bytes. */
final class RangeFetchTest {
  private static final int ROWS = 5_000;
  private static final byte[] BEGIN = {1};
  private static final byte[] END = {2};

  @TempDir Path folder;
  @AutoClose private EmbeddedDatabase database;

  @BeforeEach
  void open() {
    database = EmbeddedDatabase.open(folder, EmbeddedOptions.defaults());
    database.run(
        transaction -> {
          for (int i = 0; i < ROWS; i++) {
            transaction.set(key(i), new byte[72]);
          }
          return null;
        });
  }

  private static byte[] key(int i) {
    return new byte[] {1, 0, (byte) (i >>> 8), (byte) i};
  }

  private List<Integer> fetches(StreamingMode mode, int limit, boolean reverse, int most) {
    try (EmbeddedTransaction transaction =
        (EmbeddedTransaction) database.createTransaction(Runnable::run)) {
      RangeRead query =
          RangeRead.of(
              transaction,
              KeySelector.firstGreaterOrEqual(BEGIN),
              KeySelector.firstGreaterOrEqual(END),
              limit,
              reverse,
              mode,
              false);
      RangeCursor cursor = new RangeCursor(query, query.begin(), query.end(), limit);
      List<Integer> sizes = new ArrayList<>();
      boolean more = true;
      while (more && sizes.size() < most) {
        RangeChunk chunk =
            query.fetch(cursor.from(), cursor.to(), cursor.left(), sizes.size() + 1).join();
        sizes.add(chunk.rows().size());
        more = cursor.advance(chunk);
      }
      return sizes;
    }
  }

  @Test
  void small_medium_and_large_have_fixed_targets() {
    assertThat(fetches(StreamingMode.SMALL, 0, false, 2)).containsExactly(3, 3);
    assertThat(fetches(StreamingMode.MEDIUM, 0, false, 2)).containsExactly(10, 10);
    assertThat(fetches(StreamingMode.LARGE, 0, true, 2)).containsExactly(41, 41);
  }

  @Test
  void serial_and_want_all_fill_a_reply() {
    assertThat(fetches(StreamingMode.SERIAL, 0, false, 2)).containsExactly(800, 800);
    assertThat(fetches(StreamingMode.WANT_ALL, 0, true, 2)).containsExactly(800, 800);
  }

  @Test
  void iterator_grows_by_half_up_to_a_reply() {
    assertThat(fetches(StreamingMode.ITERATOR, 0, false, 20))
        .containsExactly(41, 62, 93, 139, 208, 312, 467, 700, 800, 800, 800, 578);
  }

  @Test
  void exact_brings_its_limit_at_once() {
    assertThat(fetches(StreamingMode.EXACT, 4_000, false, 5)).containsExactly(4_000);
  }

  @Test
  void a_limit_ends_the_last_chunk() {
    assertThat(fetches(StreamingMode.LARGE, 50, false, 5)).containsExactly(41, 9);
    assertThat(fetches(StreamingMode.LARGE, 41, false, 5)).containsExactly(41);
  }

  @Test
  void a_row_larger_than_the_target_still_comes() {
    byte[] large = {1, 1};
    database.run(
        transaction -> {
          transaction.clear(BEGIN, END);
          transaction.set(large, new byte[50_000]);
          transaction.set(new byte[] {1, 2}, new byte[50_000]);
          return null;
        });

    assertThat(fetches(StreamingMode.SMALL, 0, false, 5)).startsWith(1, 1);
  }
}
