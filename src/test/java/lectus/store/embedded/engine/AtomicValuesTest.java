package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an atomic operation finds after the last one, and after whatever came in between. */
class AtomicValuesTest {
  private static final String KEY = "counter";

  @TempDir Path folder;
  private RocksEngine engine;

  @BeforeEach
  void open() {
    engine = RocksEngine.open(folder, EngineOptions.defaults());
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void goes_on_from_the_last_one() {
    add(1);
    add(2);
    assertThat(counter()).isEqualTo(3);
  }

  @Test
  void goes_on_from_the_last_one_before_a_restart() {
    add(1);
    engine.close();
    open();
    add(2);
    assertThat(counter()).isEqualTo(3);
  }

  @Test
  void finds_what_was_set_in_between() {
    add(1);
    commit().set(bytes(KEY), new byte[] {40}).on(engine);
    add(2);
    assertThat(counter()).isEqualTo(42);
  }

  @Test
  void finds_nothing_after_a_clear() {
    add(1);
    commit().clear(KEY, KEY + "\0").on(engine);
    add(2);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void finds_nothing_after_the_clear_of_a_large_range() {
    Commits many = commit();
    for (int i = 0; i <= StoreReader.FEW_KEYS; i++) {
      many.set(KEY + "/" + i, "");
    }
    many.on(engine);
    add(1);
    commit().clear("a", "z").on(engine);
    add(2);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void finds_nothing_after_a_comparison_that_cleared() {
    add(1);
    commit().atomic(MutationType.COMPARE_AND_CLEAR, bytes(KEY), new byte[] {1}).on(engine);
    add(2);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void finds_values_too_long_to_be_remembered() {
    for (int length = 100; length <= 400; length += 100) {
      commit().atomic(MutationType.APPEND_IF_FITS, bytes(KEY), new byte[100]).on(engine);
      assertThat(value()).hasSize(length);
    }
  }

  private void add(int number) {
    commit().atomic(MutationType.ADD, bytes(KEY), new byte[] {(byte) number}).on(engine);
  }

  private int counter() {
    assertThat(value()).hasSize(1);
    return value()[0];
  }

  private byte[] value() {
    try (Snapshot latest = engine.latest()) {
      return latest.get(bytes(KEY));
    }
  }
}
