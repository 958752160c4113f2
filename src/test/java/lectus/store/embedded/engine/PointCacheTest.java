package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import lectus.error.NotInMemoryException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A value is kept for the states that it is certain to hold in. */
class PointCacheTest {
  private static final byte[] KEY = bytes("k");

  /** One place, which all keys share. */
  private final PointCache points = new PointCache(PointCache.PLACE_BYTES);

  @TempDir Path folder;

  @Test
  void a_value_is_kept_when_it_was_asked_for_twice() {
    points.keep(1, KEY, bytes("v"));
    assertThat(points.find(1, KEY)).isNull();
    points.keep(1, KEY, bytes("v"));
    assertThat(points.find(1, KEY)).containsExactly(bytes("v"));
    assertThat(points.find(9, KEY)).as("a later state").containsExactly(bytes("v"));
    assertThat(points.find(1, bytes("l"))).as("another key of the place").isNull();
  }

  @Test
  void a_value_does_not_hold_before_the_state_in_which_it_was_found() {
    keep(5, KEY, "v");
    assertThat(points.find(4, KEY)).isNull();
    assertThat(points.find(5, KEY)).isNotNull();
  }

  @Test
  void a_value_does_not_hold_from_the_write_of_its_key_on() {
    keep(5, KEY, "v");
    points.wrote(6, List.of(KEY), false);
    assertThat(points.find(6, KEY)).isNull();
    keep(6, KEY, "w");
    assertThat(points.find(6, KEY)).containsExactly(bytes("w"));
  }

  @Test
  void a_value_that_is_kept_late_is_not_used() {
    points.keep(5, KEY, bytes("v"));
    points.wrote(6, List.of(KEY), false);
    points.keep(5, KEY, bytes("v"));
    assertThat(points.find(6, KEY)).isNull();
    assertThat(points.find(5, KEY)).as("not even where it held").isNull();
  }

  @Test
  void a_clear_of_keys_that_nobody_lists_may_be_of_any() {
    keep(5, KEY, "v");
    points.wrote(6, List.of(), false);
    assertThat(points.find(6, KEY)).isNotNull();
    points.wrote(7, List.of(), true);
    assertThat(points.find(7, KEY)).isNull();
  }

  @Test
  void what_a_caller_does_with_a_value_changes_nothing() {
    byte[] key = KEY.clone();
    byte[] value = bytes("v");
    points.keep(1, key, value);
    points.keep(1, key, value);
    key[0]++;
    value[0]++;
    points.find(1, KEY)[0]++;
    assertThat(points.find(1, KEY)).containsExactly(bytes("v"));
  }

  @Test
  void a_large_value_and_an_absent_one_are_not_kept() {
    keep(1, KEY, "v".repeat(PointCache.MAX_BYTES - 1));
    assertThat(points.find(1, KEY)).isNotNull();
    byte[] other = bytes("o");
    keep(1, other, "v".repeat(PointCache.MAX_BYTES));
    assertThat(points.find(1, other)).isNull();
    points.keep(1, other, null);
    points.keep(1, other, null);
    assertThat(points.find(1, other)).isNull();
  }

  private void keep(long state, byte[] key, String value) {
    points.keep(state, key, bytes(value));
    points.keep(state, key, bytes(value));
  }

  @Test
  void what_was_just_written_is_in_memory() {
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      Commits.commit().set("k", "1").on(engine);
      try (StoreSnapshot then = engine.latest()) {
        Commits.commit().set("k", "2").on(engine);
        assertThat(text(then.getFromMemory(bytes("k")))).isEqualTo("1");
        try (StoreSnapshot now = engine.latest()) {
          assertThat(text(now.getFromMemory(bytes("k")))).isEqualTo("2");
        }
      }
    }
  }

  /** After a restart, only what opening needs has been read of the files. */
  @Test
  void what_is_on_disk_is_refused_until_somebody_has_read_it() {
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      Commits many = Commits.commit();
      for (int i = 0; i < 1_000; i++) {
        many.set("k" + i, "v".repeat(1_000));
      }
      many.on(engine);
    }
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults());
        StoreSnapshot snapshot = engine.latest()) {
      assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k500")))
          .isInstanceOf(NotInMemoryException.class);
      assertThat(snapshot.get(bytes("k500"))).hasSize(1_000);
      assertThat(snapshot.getFromMemory(bytes("k500"))).hasSize(1_000);
    }
  }

  @Test
  void a_closed_snapshot_has_nothing_in_memory_either() {
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      StoreSnapshot snapshot = engine.latest();
      snapshot.close();
      assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k")))
          .hasMessageContaining("cancelled");
    }
  }
}
