package lectus.store.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterator;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.embedded.engine.EngineOptions;
import lectus.store.embedded.engine.TestOptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions that stay open for more than five seconds of a clock that the test advances. */
final class WindowTest {
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
