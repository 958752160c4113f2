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
import com.apple.foundationdb.async.AsyncIterator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.RangeRead.RangeChunk;
import lectus.store.embedded.RangeRead.RangeCursor;
import lectus.store.embedded.engine.EngineOptions;
import lectus.store.embedded.engine.TestOptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The database and its transactions end to end, on a store in its own folder. */
final class EmbeddedDatabaseTest {
  @Nested
  class Transactions {
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

  /** Transactions that stay open for more than five seconds of a clock that the test advances. */
  @Nested
  class Window {
    private static final int TOO_OLD = 1007;
    private static final byte[] BEGIN = {'a'};
    private static final byte[] END = {'z'};

    @TempDir private Path folder;

    private final AtomicLong micros = new AtomicLong(1_000_000_000L);
    @AutoClose private EmbeddedDatabase database;

    @BeforeEach
    void open() {
      database =
          EmbeddedDatabase.open(
              folder,
              EmbeddedOptions.defaults()
                  .withEngine(EngineOptions.defaults().with(TestOptions.clock(micros::get))));
      database.run(
          t -> {
            for (int i = 0; i < 200; i++) {
              t.set("k%03d".formatted(i).getBytes(ISO_8859_1), new byte[100]);
            }
            return null;
          });
    }

    @Test
    void a_reader_is_too_old_after_five_seconds_but_may_commit_what_it_read() {
      try (Transaction reading = started();
          Transaction readOnly = started()) {
        readOnly.get(BEGIN).join();
        assertThat(codeOf(reading.get(BEGIN))).isZero();
        pass(6);
        assertThat(codeOf(reading.get(BEGIN))).isEqualTo(TOO_OLD);
        assertThat(codeOf(reading.snapshot().getRange(BEGIN, END).asList())).isEqualTo(TOO_OLD);
        assertThat(codeOf(reading.commit())).isEqualTo(TOO_OLD);
        assertThat(codeOf(readOnly.commit())).isZero();
      }
    }

    @Test
    void a_writer_is_too_old_after_five_seconds() {
      try (Transaction writing = started()) {
        writing.get(BEGIN).join();
        writing.set(BEGIN, new byte[0]);
        pass(6);
        assertThat(codeOf(writing.commit())).isEqualTo(TOO_OLD);
      }
      assertThat(codeOf(started().get(BEGIN))).isZero();
    }

    @Test
    void within_five_seconds_both_may() {
      try (Transaction t = started()) {
        t.get(BEGIN).join();
        t.set(BEGIN, new byte[0]);
        pass(4);
        assertThat(codeOf(t.get(END))).isZero();
        assertThat(codeOf(t.commit())).isZero();
      }
    }

    @Test
    void an_iterator_fails_where_its_next_chunk_is_too_old() {
      try (Transaction t = started()) {
        AsyncIterator<KeyValue> rows =
            t.getRange(BEGIN, END, 0, false, StreamingMode.SMALL).iterator();
        rows.next();
        pass(6);
        int code = 0;
        try {
          rows.forEachRemaining(row -> assertThat(row.getValue()).hasSize(100));
        } catch (CompletionException e) {
          code = ((FDBException) e.getCause()).getCode();
        }
        assertThat(code).isEqualTo(TOO_OLD);
      }
    }

    @Test
    void the_next_run_is_young() {
      Transaction old = started();
      pass(6);
      FDBException tooOld = new FDBException("", codeOf(old.get(BEGIN)));
      try (Transaction again = old.onError(tooOld).join()) {
        assertThat(codeOf(again.get(BEGIN))).isZero();
        again.set(BEGIN, new byte[0]);
        assertThat(codeOf(again.commit())).isZero();
      }
    }

    @Test
    void a_transaction_that_never_read_is_never_too_old() {
      try (Transaction t = database.createTransaction()) {
        t.set(BEGIN, new byte[0]);
        t.addReadConflictKey(END);
        pass(60);
        assertThat(codeOf(t.commit())).isZero();
      }
    }

    @Test
    void a_watch_outlives_the_window() {
      CompletableFuture<Void> watch;
      try (Transaction t = started()) {
        watch = t.watch(BEGIN);
        assertThat(codeOf(t.commit())).isZero();
      }
      pass(60);
      assertThat(watch).isNotDone();
      database.run(
          t -> {
            t.set(BEGIN, new byte[1]);
            return null;
          });
      assertThat(codeOf(watch)).isZero();
    }

    private Transaction started() {
      Transaction t = database.createTransaction();
      t.getReadVersion().join();
      return t;
    }

    /** Advances the clock and commits, which takes a version of the new time. */
    private void pass(int seconds) {
      micros.addAndGet(seconds * 1_000_000L);
      database.run(
          t -> {
            t.set("tick".getBytes(ISO_8859_1), new byte[0]);
            return null;
          });
    }

    private static int codeOf(CompletableFuture<?> future) {
      try {
        future.join();
        return 0;
      } catch (CompletionException e) {
        return ((FDBException) e.getCause()).getCode();
      }
    }
  }

  /** How many rows a fetch returns. Each stored row here counts 4 + 72 + 24 = 100 bytes. */
  @Nested
  class Fetches {
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
}
