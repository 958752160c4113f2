package lectus.store.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The database and its transactions end to end, on a store in its own folder. */
final class EmbeddedDatabaseTest {
  @TempDir Path folder;
  @AutoClose private Database database;

  @BeforeEach
  void open() {
    database = EmbeddedDatabase.open(folder, EmbeddedOptions.defaults());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static List<String> keys(List<KeyValue> rows) {
    return rows.stream().map(row -> new String(row.getKey(), ISO_8859_1)).toList();
  }

  private void store(String... keys) {
    database.run(
        transaction -> {
          for (String key : keys) {
            transaction.set(bytes(key), bytes("value of " + key));
          }
          return null;
        });
  }

  private static int codeOf(Throwable error) {
    return ((FDBException) error.getCause()).getCode();
  }

  @Test
  void stored_values_are_read_by_later_transactions() {
    store("a");

    byte[] value = database.run(transaction -> transaction.get(bytes("a")).join());

    assertThat(value).isEqualTo(bytes("value of a"));
  }

  @Test
  void values_survive_closing_and_opening() {
    store("a");

    database.close();
    open();

    assertThat(database.<byte[]>run(transaction -> transaction.get(bytes("a")).join()))
        .isEqualTo(bytes("value of a"));
  }

  @Test
  void ranges_merge_own_writes_with_stored_rows() {
    store("a", "b", "c", "d", "e");

    List<String> forward = new ArrayList<>();
    List<String> backward = new ArrayList<>();
    database.run(
        transaction -> {
          transaction.clear(bytes("b"), bytes("d"));
          transaction.clear(bytes("e"));
          transaction.set(bytes("bb"), bytes("1"));
          transaction.mutate(MutationType.ADD, bytes("x"), new byte[] {1});
          forward.addAll(keys(transaction.getRange(bytes("a"), bytes("z")).asList().join()));
          backward.addAll(
              keys(transaction.getRange(bytes("a"), bytes("z"), 3, true).asList().join()));
          return null;
        });

    assertThat(forward).containsExactly("a", "bb", "d", "x");
    assertThat(backward).containsExactly("x", "d", "bb");
  }

  @Test
  void every_streaming_mode_iterates_the_same_rows() {
    String[] many = new String[2_000];
    for (int i = 0; i < many.length; i++) {
      many[i] = String.format("k%05d", i);
    }
    store(many);

    for (StreamingMode mode : StreamingMode.values()) {
      if (mode == StreamingMode.EXACT) {
        continue;
      }
      try (Transaction transaction = database.createTransaction()) {
        List<KeyValue> rows = new ArrayList<>();
        transaction
            .getRange(bytes("k"), bytes("l"), 0, false, mode)
            .iterator()
            .forEachRemaining(rows::add);
        assertThat(keys(rows)).containsExactly(many);
      }
    }
  }

  @Test
  void a_later_write_to_a_key_that_was_read_conflicts() {
    store("a");
    try (Transaction transaction = database.createTransaction()) {
      transaction.get(bytes("a")).join();
      store("a");
      transaction.set(bytes("b"), bytes("1"));

      assertThatThrownBy(() -> transaction.commit().join())
          .isInstanceOf(CompletionException.class)
          .satisfies(error -> assertThat(codeOf(error)).isEqualTo(1020));
    }
  }

  @Test
  void run_repeats_the_body_that_lost() {
    store("a");
    AtomicInteger attempts = new AtomicInteger();

    database.run(
        transaction -> {
          transaction.get(bytes("a")).join();
          if (attempts.incrementAndGet() == 1) {
            store("a");
          }
          transaction.set(bytes("b"), bytes("1"));
          return null;
        });

    assertThat(attempts).hasValue(2);
  }

  @Test
  void selectors_see_own_writes() {
    store("a", "c", "e");
    try (Transaction transaction = database.createTransaction()) {
      transaction.set(bytes("b"), bytes("1"));
      transaction.clear(bytes("c"));

      assertThat(transaction.getKey(KeySelector.firstGreaterThan(bytes("b"))).join())
          .isEqualTo(bytes("e"));
      assertThat(transaction.getKey(KeySelector.lastLessThan(bytes("e"))).join())
          .isEqualTo(bytes("b"));
      assertThat(transaction.getKey(KeySelector.lastLessThan(bytes("a"))).join()).isEmpty();
      assertThat(transaction.getKey(KeySelector.firstGreaterThan(bytes("e"))).join())
          .isEqualTo(new byte[] {(byte) 0xFF});
    }
  }

  @Test
  void a_versionstamped_key_holds_the_transactions_versionstamp() {
    byte[] template = new byte[1 + 10 + 4];
    template[0] = 'p';
    template[11] = 1;
    byte[] stamp;
    try (Transaction transaction = database.createTransaction()) {
      var future = transaction.getVersionstamp();
      transaction.mutate(MutationType.SET_VERSIONSTAMPED_KEY, template, bytes("1"));
      transaction.commit().join();
      stamp = future.join();
    }

    byte[] key =
        database.run(
            transaction ->
                transaction.getRange(bytes("p"), bytes("q")).asList().join().get(0).getKey());

    assertThat(key).startsWith(bytes("p")).endsWith(stamp).hasSize(11);
  }

  @Test
  void a_watch_fires_when_its_key_changes() {
    store("a");
    var watch = database.run(transaction -> transaction.watch(bytes("a")));
    assertThat(watch).isNotDone();

    database.run(
        transaction -> {
          transaction.set(bytes("a"), bytes("another"));
          return null;
        });

    watch.join();
  }

  @Test
  void a_read_waits_for_a_version_that_is_about_to_come() {
    store("a");
    try (Transaction transaction = database.createTransaction()) {
      long now = database.run(t -> t.getReadVersion().join());
      transaction.setReadVersion(now + 150_000);

      var value = transaction.get(bytes("a"));

      assertThat(value.join()).isEqualTo(bytes("value of a"));
    }
  }

  @Test
  void a_commit_waits_for_reads_that_wait_for_their_version() {
    store("a");
    try (Transaction transaction = database.createTransaction()) {
      long now = database.run(t -> t.getReadVersion().join());
      transaction.setReadVersion(now + 150_000);
      var value = transaction.get(bytes("a"));
      transaction.set(bytes("b"), bytes("1"));

      transaction.commit().join();

      assertThat(value).isDone();
      assertThat(value.join()).isEqualTo(bytes("value of a"));
    }
  }

  @Test
  void a_read_that_waits_fails_when_its_transaction_is_closed() {
    Transaction transaction = database.createTransaction();
    transaction.setReadVersion(Long.MAX_VALUE / 2);
    var value = transaction.get(bytes("a"));

    transaction.close();

    assertThatThrownBy(value::join).satisfies(error -> assertThat(codeOf(error)).isEqualTo(1025));
  }

  @Test
  void a_closed_database_refuses_everything() {
    store("a");
    Transaction open = database.createTransaction();
    var watch = database.run(transaction -> transaction.watch(bytes("a")));

    database.close();
    database.close();

    assertThatThrownBy(database::createTransaction).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> open.get(bytes("a"))).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(watch::join).satisfies(error -> assertThat(codeOf(error)).isEqualTo(1025));
    open.set(bytes("a"), bytes("1"));
    assertThatThrownBy(() -> open.commit().join())
        .satisfies(error -> assertThat(codeOf(error)).isEqualTo(1025));
  }

  @Test
  void split_points_cut_a_range_into_chunks() {
    String[] many = new String[1_000];
    for (int i = 0; i < many.length; i++) {
      many[i] = String.format("k%03d", i);
    }
    store(many);

    List<byte[]> points =
        database.run(
            transaction ->
                transaction.getRangeSplitPoints(bytes("k"), bytes("l"), 3_000).join().getKeys());

    assertThat(points.get(0)).isEqualTo(bytes("k"));
    assertThat(points.get(points.size() - 1)).isEqualTo(bytes("l"));
    assertThat(points).hasSizeBetween(5, 8).isSortedAccordingTo(Arrays::compareUnsigned);
  }

  @Test
  void an_own_wide_clear_hides_stored_rows() {
    store("a", "m", "z");
    List<String> seen = new ArrayList<>();
    database.run(
        transaction -> {
          transaction.clear(bytes("b"), bytes("y"));
          seen.addAll(keys(transaction.getRange(bytes("a"), bytes("~")).asList().join()));
          return null;
        });

    assertThat(seen).containsExactly("a", "z");
  }

  @Test
  void what_a_cluster_alone_has_is_unsupported() {
    try (Transaction transaction = database.createTransaction()) {
      KeySelector all = KeySelector.firstGreaterOrEqual(bytes("a"));

      assertThatThrownBy(
              () ->
                  transaction.getMappedRange(
                      all, all, bytes("m"), 0, false, StreamingMode.WANT_ALL))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> database.openTenant(bytes("t")))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> transaction.getBlobGranuleRanges(bytes("a"), bytes("b"), 1))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }
}
