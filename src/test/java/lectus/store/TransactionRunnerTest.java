package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.embedded.EmbeddedDatabase;
import lectus.store.embedded.EmbeddedOptions;
import lectus.store.embedded.engine.RocksEngine;
import lectus.store.testing.FaultyEngine;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionRunnerTest {
  private static final byte[] VALUE = {1};

  @RegisterExtension static final TestStores stores = new TestStores();

  @TempDir private Path folder;

  private final Store store = stores.fresh();
  private final TransactionRunner runner = new TransactionRunner(store, TransactionLimits.DEFAULT);
  private final byte[] key = store.directory().pack("key");
  private int runs;
  private static final Duration MOST = Duration.ofSeconds(30);

  @Test
  void run_commits_and_gives_the_value() {
    String value =
        runner.run(
            t -> {
              t.set(key, VALUE);
              return "done";
            });
    assertThat(value).isEqualTo("done");
    assertThat(stored()).isEqualTo(VALUE);
  }

  @Test
  void what_is_in_memory_is_read_without_waiting() {
    runner.run(
        t -> {
          t.set(key, VALUE);
          return null;
        });
    Optional<byte[]> read =
        runner.readFromMemory(t -> Optional.ofNullable(Awaiting.await(t.get(key))));

    if (TestStores.isCluster()) {
      assertThat(read).as("every read of a cluster waits").isEmpty();
    } else {
      assertThat(read).hasValue(VALUE);
    }
  }

  @Test
  void ranges_are_never_read_from_memory_alone() {
    Optional<Integer> rows =
        runner.readFromMemory(
            t ->
                Optional.of(Awaiting.await(t.getRange(store.directory().range()).asList()).size()));

    assertThat(rows).isEmpty();
  }

  @Test
  void what_a_body_throws_while_it_reads_from_memory_is_thrown() {
    TestStores.onlyEmbedded();
    assertThatThrownBy(
            () ->
                runner.readFromMemory(
                    t -> {
                      throw LectusException.notFound("missing");
                    }))
        .isInstanceOf(LectusException.class);
  }

  @Test
  void run_versioned_gives_the_versionstamp() {
    CommitResult<String> committed =
        runner.runVersioned(
            t -> {
              byte[] stampedKey = ByteArrayUtil.join(key, Versionstamp.placeholder(5));
              t.mutate(
                  MutationType.SET_VERSIONSTAMPED_KEY,
                  Versionstamp.template(stampedKey, key.length),
                  VALUE);
              return "done";
            });
    assertThat(committed.value()).isEqualTo("done");
    byte[] complete = Versionstamp.complete(committed.versionstamp(), 5);
    byte[] finalKey = ByteArrayUtil.join(key, complete);
    byte[] row = runner.read(t -> Awaiting.await(t.get(finalKey)));
    assertThat(row).isEqualTo(VALUE);
    long readVersion = runner.read(t -> Awaiting.await(t.getReadVersion()));
    assertThat(ByteBuffer.wrap(complete).getLong()).isLessThanOrEqualTo(readVersion);
  }

  @Test
  void what_writes_nothing_has_no_versionstamp() {
    CommitResult<byte[]> committed =
        runner.begin(t -> Awaiting.await(t.get(key)), value -> false).finish();
    assertThat(committed.versionstamp()).isNull();
  }

  @Test
  void a_loser_runs_again() {
    byte[] seen =
        runner.run(
            t -> {
              byte[] value = Awaiting.await(t.get(key));
              if (runs++ < 3) {
                write(key);
              }
              t.set(store.directory().pack("other"), VALUE);
              return value;
            });
    assertThat(runs).isEqualTo(4);
    assertThat(seen).isEqualTo(VALUE);
  }

  @Test
  void the_retries_end() {
    TransactionRunner twice =
        new TransactionRunner(store, new TransactionLimits(2, Duration.ofMinutes(1)));
    FDBException lost = catchThrowableOfType(FDBException.class, () -> twice.run(this::loseAlways));
    assertThat(lost.getCode()).isEqualTo(1020);
    assertThat(runs).isEqualTo(3);
  }

  @Test
  void no_retries_means_one_run() {
    TransactionRunner once =
        new TransactionRunner(store, new TransactionLimits(0, Duration.ofMinutes(1)));
    assertThatThrownBy(() -> once.run(this::loseAlways)).isInstanceOf(FDBException.class);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void no_run_begins_after_the_time() {
    TestStores.onlyEmbedded(); // on a cluster the first run would time out, too
    TransactionRunner hasty =
        new TransactionRunner(store, new TransactionLimits(1_000, Duration.ofNanos(1)));
    assertThatThrownBy(() -> hasty.run(this::loseAlways)).isInstanceOf(FDBException.class);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void illegal_limits_are_refused() {
    assertThatThrownBy(() -> new TransactionLimits(-1, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new TransactionLimits(0, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new TransactionLimits(0, Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void exceptions_of_the_body_pass_untouched_and_nothing_is_stored() {
    LectusException mine = new LectusException(new LectusError.Conflict());
    assertThatThrownBy(() -> runner.run(t -> failing(t, mine))).isSameAs(mine);
    assertThatThrownBy(() -> runner.run(t -> failing(t, new CompletionException(mine))))
        .isSameAs(mine);
    RuntimeException defect = new IllegalStateException("a defect");
    assertThatThrownBy(() -> runner.read(t -> failing(defect))).isSameAs(defect);
    assertThat(stored()).isNull();
    assertThat(runs).isEqualTo(3);
  }

  @Test
  void errors_not_worth_a_retry_pass_with_their_code() {
    FDBException tooLarge =
        catchThrowableOfType(
            FDBException.class,
            () ->
                runner.run(
                    t -> {
                      runs++;
                      t.set(key, new byte[100_001]);
                      return null;
                    }));
    assertThat(tooLarge.getCode()).isEqualTo(2103);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void wrapped_errors_of_reads_are_unwrapped() {
    byte[] illegal = {(byte) 0xff};
    FDBException failure =
        catchThrowableOfType(
            FDBException.class, () -> runner.read(t -> t.get(illegal).thenApply(v -> v).join()));
    assertThat(failure.getCode()).isEqualTo(2004);
  }

  @Test
  void reads_are_snapshots_at_one_version() {
    write(key);
    byte[] second =
        runner.read(
            t -> {
              assertThat(t.isSnapshot()).isTrue();
              Awaiting.await(t.get(key));
              runner.run(
                  other -> {
                    other.clear(key);
                    return null;
                  });
              return Awaiting.await(t.get(key));
            });
    assertThat(second).isEqualTo(VALUE);
    assertThat(stored()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1021, 1039})
  void an_unknown_result_is_not_tried_again(int code) {
    TestStores.onlyEmbedded();
    EmbeddedOptions options = EmbeddedOptions.defaults();
    FaultyEngine engine =
        new FaultyEngine(
            RocksEngine.open(folder, options.engine()),
            (sound, request) -> CompletableFuture.failedFuture(new FDBException("", code)));
    try (EmbeddedDatabase database = EmbeddedDatabase.on(engine, options)) {
      TransactionRunner unlucky = new TransactionRunner(database, TransactionLimits.DEFAULT, true);
      LectusException unknown =
          catchThrowableOfType(
              LectusException.class,
              () ->
                  unlucky.run(
                      t -> {
                        runs++;
                        t.set(key, VALUE);
                        return null;
                      }));
      assertThat(unknown.error()).isInstanceOf(LectusError.InDoubt.class);
      assertThat(unknown.error().reason()).contains(Integer.toString(code));
    }
    assertThat(runs).isEqualTo(1);
  }

  private Void loseAlways(Transaction t) {
    runs++;
    Awaiting.await(t.get(key));
    write(key);
    t.set(store.directory().pack("other"), VALUE);
    return null;
  }

  private Void failing(Transaction t, RuntimeException failure) {
    t.set(key, VALUE);
    return failing(failure);
  }

  private Void failing(RuntimeException failure) {
    runs++;
    throw failure;
  }

  private void write(byte[] where) {
    new TransactionRunner(store, TransactionLimits.DEFAULT)
        .run(
            t -> {
              t.set(where, VALUE);
              return null;
            });
  }

  private byte[] stored() {
    return runner.read(t -> Awaiting.await(t.get(key)));
  }

  @ParameterizedTest
  @CsvSource({"40, 0, 30", "10, 0, 10", "10, 4, 6", "10, 9, 1", "10, 10, 1", "10, 12, 1"})
  void a_transaction_has_what_is_left_and_never_too_little(int whole, int waited, int expected)
      throws Exception {
    Duration limit =
        ReadTimeout.during(
            Duration.ofSeconds(whole), Duration.ofSeconds(waited), () -> ReadTimeout.limit(MOST));
    assertThat(limit).isEqualTo(Duration.ofSeconds(expected));
  }

  @Test
  void work_that_goes_on_has_the_whole_time_again() throws Exception {
    Duration limit =
        ReadTimeout.during(
            Duration.ofSeconds(10),
            Duration.ofSeconds(8),
            () -> {
              ReadTimeout.answered();
              return ReadTimeout.limit(MOST);
            });
    assertThat(limit).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void whoever_has_less_time_keeps_to_it() throws Exception {
    Duration least = Duration.ofMillis(200);
    assertThat(
            ReadTimeout.during(
                Duration.ofSeconds(10), Duration.ofSeconds(10), () -> ReadTimeout.limit(least)))
        .isEqualTo(least);
    assertThat(ReadTimeout.limit(MOST)).isEqualTo(MOST);
  }
}
