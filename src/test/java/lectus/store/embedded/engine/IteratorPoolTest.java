package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import lectus.store.embedded.engine.IteratorPool.BoundedIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Reuse of iterators: for which state, over which files, and for how long. */
class IteratorPoolTest {
  /** A tenth of a second each. */
  private static final int TICKS_BEFORE_REFRESH = 10;

  private static final int TICKS_IDLE = 10;
  private static final int LONGEST_BOUND_KEPT = 1_024;

  @TempDir Path folder;
  private final Options options = new Options().setCreateIfMissing(true);
  private final List<StoreState> states = new ArrayList<>();
  private RocksDB db;
  private IteratorPool pool;

  @BeforeEach
  void open() throws RocksDBException {
    db = RocksDB.open(options.setDisableAutoCompactions(true), folder.toString());
    pool = new IteratorPool(db);
  }

  @AfterEach
  void close() {
    pool.close();
    states.forEach(StoreState::release);
    db.close();
    options.close();
  }

  @Test
  void an_iterator_used_again_reads_the_state_that_it_is_taken_for() throws RocksDBException {
    StoreState one = stateWith("a");
    StoreState two = stateWith("b");

    BoundedIterator first = pool.take(one, bytes("a"), bytes("z"));
    assertThat(keys(first)).containsExactly("a");
    pool.giveBack(first);

    BoundedIterator again = pool.take(two, bytes("a"), bytes("z"));
    assertThat(again).isSameAs(first);
    assertThat(keys(again)).containsExactly("a", "b");
    pool.giveBack(again);

    assertThat(keys(pool.take(one, bytes("a"), bytes("z")))).containsExactly("a");
  }

  @Test
  void an_iterator_that_is_always_in_use_moves_to_the_files_of_a_compaction() throws Exception {
    // Two files of the same keys, which a compaction cannot just move.
    stateWith("a");
    stateWith("b");
    flush();
    stateWith("a");
    StoreState state = stateWith("b");
    flush();
    use(state);
    db.compactRange();
    assertThat(tables()).as("the iterator keeps the merged files").isEqualTo(3);

    tick(TICKS_BEFORE_REFRESH - 1);
    use(state);
    tick(1);
    use(state);
    assertThat(tables()).isEqualTo(3);

    tick(1);
    use(state);
    assertThat(tables()).isEqualTo(1);
  }

  /** Takes the pool's only iterator, reads all rows, and returns it. */
  private void use(StoreState state) throws RocksDBException {
    BoundedIterator iterator = pool.take(state, bytes("a"), bytes("z"));
    assertThat(keys(iterator)).containsExactly("a", "b");
    pool.giveBack(iterator);
  }

  @Test
  void an_iterator_is_closed_when_it_was_idle_for_a_second() throws RocksDBException {
    StoreState state = stateWith("a");
    BoundedIterator first = pool.take(state, bytes("a"), bytes("z"));
    pool.giveBack(first);

    tick(TICKS_IDLE);
    BoundedIterator kept = pool.take(state, bytes("a"), bytes("z"));
    assertThat(kept).isSameAs(first);
    pool.giveBack(kept);

    tick(TICKS_IDLE + 1);
    assertThat(pool.take(state, bytes("a"), bytes("z"))).isNotSameAs(first);
  }

  @Test
  void an_iterator_made_for_a_long_bound_is_not_kept() throws RocksDBException {
    StoreState state = stateWith("a");
    byte[] longest = new byte[LONGEST_BOUND_KEPT];
    byte[] longer = new byte[LONGEST_BOUND_KEPT + 1];

    BoundedIterator usual = pool.take(state, longest, bytes("z"));
    pool.giveBack(usual);
    BoundedIterator large = pool.take(state, longer, bytes("z"));
    assertThat(large).isNotSameAs(usual);
    assertThat(keys(large)).containsExactly("a");
    pool.giveBack(large);

    assertThat(pool.take(state, bytes("a"), bytes("z"))).isSameAs(usual);
  }

  private StoreState stateWith(String key) throws RocksDBException {
    db.put(bytes(key), bytes("value"));
    StoreState state = new StoreState(db, states.size(), null);
    states.add(state);
    return state;
  }

  private void flush() throws RocksDBException {
    try (FlushOptions waiting = new FlushOptions().setWaitForFlush(true)) {
      db.flush(waiting);
    }
  }

  private void tick(int times) {
    for (int i = 0; i < times; i++) {
      pool.tick();
    }
  }

  private long tables() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".sst")).count();
    }
  }

  private static List<String> keys(BoundedIterator iterator) throws RocksDBException {
    List<String> keys = new ArrayList<>();
    for (iterator.first(); iterator.isAtRow(); iterator.forward()) {
      keys.add(new String(iterator.key(), StandardCharsets.UTF_8));
    }
    return keys;
  }
}
