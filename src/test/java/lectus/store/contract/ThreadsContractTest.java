package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TIMED_OUT;
import static lectus.store.contract.ErrorCodes.USED_DURING_COMMIT;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** One transaction used by several threads, and ended by one while others read. */
class ThreadsContractTest {
  private static final int THREADS = 4;
  private static final int ROWS = 300;
  private static final Set<Integer> ENDED =
      Set.of(OK, TRANSACTION_CANCELLED, TRANSACTION_TIMED_OUT, USED_DURING_COMMIT);

  @RegisterExtension static final TestStores stores = new TestStores();

  @TempDir private Path folder;

  private final Scratch scratch = new Scratch(stores.fresh());
  private final ExecutorService pool = Executors.newFixedThreadPool(THREADS);

  @AfterEach
  void close() throws InterruptedException {
    pool.shutdownNow();
    assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    scratch.close();
  }

  @Test
  void callbacks_run_on_the_executor_of_their_transaction() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    ExecutorService own = Executors.newSingleThreadExecutor();
    try {
      Thread thread = own.submit(Thread::currentThread).get();
      own.submit(() -> busy.await(30, TimeUnit.SECONDS));
      Transaction t = scratch.closing(scratch.database().createTransaction(own));
      t.set(scratch.key("k"), EMPTY);
      CompletableFuture<Thread> callback = t.commit().thenApply(none -> Thread.currentThread());
      assertThat(codeOf(commitOf("other"))).isEqualTo(OK);
      assertThat(callback).isNotDone();

      busy.countDown();
      assertThat(callback.get(30, TimeUnit.SECONDS)).isSameAs(thread);
    } finally {
      own.shutdownNow();
    }
  }

  @Test
  void slow_callbacks_delay_no_other_commits() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    ExecutorService own = Executors.newSingleThreadExecutor();
    try {
      for (int round = 0; round < 20; round++) {
        Transaction t = scratch.closing(scratch.database().createTransaction(own));
        t.set(scratch.key("slow" + round), EMPTY);
        t.commit().thenRun(() -> awaitQuietly(slow));
        List<CompletableFuture<Void>> others = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          others.add(commitOf("other" + i));
        }
        for (CompletableFuture<Void> other : others) {
          other.get(30, TimeUnit.SECONDS);
        }
      }
    } finally {
      slow.countDown();
      own.shutdown();
    }
  }

  private CompletableFuture<Void> commitOf(String key) {
    Transaction t = scratch.begin();
    t.set(scratch.key(key), EMPTY);
    return t.commit();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void reads_that_follow_each_other_do_not_use_up_the_stack() throws Exception {
    scratch.set("k");
    Transaction t = scratch.begin();
    assertThat(readOn(t, 20_000).get(60, TimeUnit.SECONDS)).isNotNull();
  }

  private CompletableFuture<byte[]> readOn(Transaction t, int reads) {
    CompletableFuture<byte[]> read = t.get(scratch.key("k"));
    return reads == 0 ? read : read.thenCompose(value -> readOn(t, reads - 1));
  }

  @Test
  void many_threads_may_use_one_transaction() throws Exception {
    scratch.set("stored");
    Transaction t = scratch.begin();
    byte[] counter = scratch.key("counter");
    inEveryThread(
        thread -> {
          for (int i = 0; i < 100; i++) {
            byte[] key = scratch.key("t%d-%03d".formatted(thread, i));
            t.set(key, EMPTY);
            t.mutate(MutationType.ADD, counter, new byte[] {1, 0});
            assertThat(valueOf(t.get(key))).isEmpty();
            assertThat(scratch.get(t, "stored")).isEqualTo("stored");
            assertThat(valueOf(t.getRange(scratch.all(), 3).asList())).isNotEmpty();
          }
        });
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(valueOf(scratch.begin().getRange(Range.startsWith(scratch.key("t"))).asList()))
        .hasSize(THREADS * 100);
    assertThat(scratch.stored(counter)).containsExactly(THREADS * 100 & 0xff, (THREADS * 100) >> 8);
  }

  @Test
  void a_transaction_may_end_while_others_read_it() throws Exception {
    scratch.committed(t -> fill(t, scratch));
    List<Consumer<Transaction>> ends =
        List.of(
            Transaction::close,
            Transaction::cancel,
            t -> t.onError(new FDBException("", NOT_COMMITTED)).thenAccept(Transaction::close),
            t -> codeOf(t.commit()),
            t -> t.options().setTimeout(1));
    for (int round = 0; round < 60; round++) {
      Transaction t = scratch.begin();
      endWhileReading(t, scratch, ends.get(round % ends.size()), round);
    }
    assertThat(valueOf(scratch.begin().getRange(scratch.all()).asList())).hasSize(ROWS);
  }

  @Test
  void the_database_may_be_closed_while_others_read_it() throws Exception {
    TestStores.onlyEmbedded();
    for (int round = 0; round < 5; round++) {
      Store store = EmbeddedStores.open(folder.resolve("store" + round));
      try (Scratch own = new Scratch(store)) {
        own.committed(t -> fill(t, own));
        endWhileReading(own.begin(), own, t -> store.close(), round);
      }
    }
  }

  private void endWhileReading(Transaction t, Scratch where, Consumer<Transaction> end, int round)
      throws Exception {
    CountDownLatch reading = new CountDownLatch(1 + round % (4 * THREADS));
    List<Future<Integer>> readers = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      readers.add(pool.submit(() -> readUntilItEnds(t, where, reading)));
    }
    assertThat(reading.await(30, TimeUnit.SECONDS)).isTrue();
    end.accept(t);
    readers.forEach(reader -> assertThat(ENDED).contains(endOf(reader)));
  }

  /**
   * Reads ranges and keys, with and without conflicts, until that fails. Returns the error code.
   */
  private static int readUntilItEnds(Transaction t, Scratch where, CountDownLatch reading) {
    try {
      for (int i = 0; i < 500; i++) {
        reading.countDown();
        boolean reverse = i % 2 == 1;
        ReadTransaction reads = i % 4 < 2 ? t : t.snapshot();
        for (KeyValue row : reads.getRange(where.all(), 0, reverse, StreamingMode.SMALL)) {
          assertThat(row.getValue()).hasSize(100);
        }
        assertThat(reads.get(where.key("r0001")).join()).hasSize(100);
      }
      return OK;
    } catch (CompletionException e) {
      return e.getCause() instanceof IllegalStateException ? TRANSACTION_CANCELLED : codeOf(e);
    } catch (IllegalStateException closedOrCancelled) {
      return TRANSACTION_CANCELLED;
    }
  }

  private static int endOf(Future<Integer> reader) {
    try {
      return reader.get(60, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("The reader did not end well", e);
    }
  }

  private void inEveryThread(Consumer<Integer> task) throws Exception {
    List<Future<?>> tasks = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      int number = thread;
      tasks.add(pool.submit(() -> task.accept(number)));
    }
    for (Future<?> each : tasks) {
      each.get(60, TimeUnit.SECONDS);
    }
  }

  private static void fill(Transaction t, Scratch where) {
    for (int i = 0; i < ROWS; i++) {
      t.set(where.key("r%04d".formatted(i)), value(100));
    }
  }
}
