package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lectus.error.FoundationDbError;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.KeyRange;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is thrown within the committer ends its own group, and the store is written again. */
class ThrownInCommitsTest {
  private static final int NOT_STORED = 1042;
  private static final int UNKNOWN = 1021;
  private static final byte[] ONE = {1, 0, 0, 0};
  private static final int HEAP_MEGABYTES = 24;
  private static final int SECONDS = 120;

  @TempDir Path temporary;
  private final TurnedByHand hand = new TurnedByHand();
  private boolean clockFails;
  private RocksEngine engine;

  @BeforeEach
  void open() {
    EngineOptions options =
        EngineOptions.defaults()
            .with(TestOptions.threads(hand, hand))
            .with(TestOptions.clock(this::micros));
    engine = RocksEngine.open(temporary.resolve("store"), options);
  }

  private long micros() {
    if (clockFails) {
      throw new OutOfMemoryError("of this test");
    }
    return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
  }

  @AfterEach
  void everyGroupIsStoredAsAWholeOrNotAtAll() {
    engine.close();
    try (RocksEngine again =
        RocksEngine.open(temporary.resolve("store"), EngineOptions.defaults())) {
      assertCounted(again);
    }
  }

  @Test
  void error_before_a_version_is_given_stores_nothing_and_the_next_commit_is_stored() {
    clockFails = true;
    CompletableFuture<CommitReceipt> commit = engine.commit(counting("a").request());
    hand.run();
    clockFails = false;

    assertThat(code(commit)).isEqualTo(NOT_STORED);
    assertStores("b");
    assertThat(get(engine, "k/a")).isNull();
  }

  @Test
  void error_while_a_group_is_resolved_stores_nothing_of_it_and_the_next_commit_is_stored() {
    assertStores("before");
    assertOfTwo(
        () -> {
          throw new OutOfMemoryError("of this test");
        },
        NOT_STORED);
  }

  @Test
  void commit_whose_reads_fail_is_told_so_and_its_neighbour_may_try_again() {
    assertStores("before");
    assertOfTwo(
        () -> {
          throw FoundationDbError.FILE_CORRUPT.exception();
        },
        FoundationDbError.FILE_CORRUPT.code());
  }

  private void assertOfTwo(Runnable failure, int codeOfPoisoned) {
    Failing failing = new Failing(counting("b").request().mutations(), failure);
    CommitRequest poisoned =
        new CommitRequest(-1, List.of(), List.of(KeyRange.of(bytes("k/b"))), failing, true, false);
    CompletableFuture<CommitReceipt> first = engine.commit(counting("a").request());
    CompletableFuture<CommitReceipt> second = engine.commit(poisoned);
    failing.armed = true;
    hand.run();

    assertThat(code(first)).isEqualTo(NOT_STORED);
    assertThat(code(second)).isEqualTo(codeOfPoisoned);
    assertStores("c");
    assertThat(get(engine, "k/a")).isNull();
    assertThat(get(engine, "k/b")).isNull();
  }

  /** A range without an end is noticed only once the group is to be found by later conflicts. */
  @Test
  void failure_after_the_write_is_unknown_and_the_store_finds_out_what_is_stored() {
    assertStores("before");
    List<KeyRange> broken = List.of(new KeyRange(bytes("k/b"), null));
    CommitRequest poisoned =
        new CommitRequest(-1, List.of(), broken, counting("b").request().mutations(), true, false);
    CompletableFuture<CommitReceipt> first = engine.commit(counting("a").request());
    CompletableFuture<CommitReceipt> second = engine.commit(poisoned);
    hand.run();

    assertThat(code(first)).isEqualTo(UNKNOWN);
    assertThat(code(second)).isEqualTo(UNKNOWN);
    Await.until(
        "the store is opened again",
        () -> {
          hand.tick();
          return engine.run.committer.trouble() == null;
        });
    assertThat(get(engine, "k/a")).isEqualTo("");
    assertThat(get(engine, "k/b")).isEqualTo("");
    assertStores("c");
  }

  @Test
  void error_of_a_listener_changes_nothing() {
    engine.onPublish(
        version -> {
          throw new OutOfMemoryError("of this test");
        });
    assertStores("a");
    assertStores("b");
  }

  /** Whichever line runs out of memory. */
  @Test
  void store_in_a_heap_that_is_full_again_and_again_is_written_when_there_is_memory()
      throws Exception {
    List<String> command = TestJava.command(HEAP_MEGABYTES);
    command.addAll(List.of(FullHeap.class.getName(), temporary.resolve("full").toString()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(temporary.resolve("output").toFile())
            .start();
    try {
      assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(Folders.read(temporary.resolve("output"))).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  private void assertStores(String id) {
    CompletableFuture<CommitReceipt> commit = engine.commit(counting(id).request());
    hand.run();
    assertThat(code(commit)).isZero();
    assertThat(get(engine, "k/" + id)).isEqualTo("");
    assertCounted(engine);
  }

  private static Commits counting(String id) {
    return commit().set("k/" + id, "").atomic(MutationType.ADD, bytes("count"), ONE);
  }

  private static void assertCounted(Engine engine) {
    List<String> rows = Commits.rows(engine, "k/", "k0");
    String count = get(engine, "count");
    assertThat(count == null ? 0 : count.charAt(0)).isEqualTo((char) rows.size());
  }

  private static int code(CompletableFuture<CommitReceipt> commit) {
    assertThat(commit).isDone();
    try {
      commit.join();
      return 0;
    } catch (CompletionException failure) {
      return ((FDBException) failure.getCause()).getCode();
    }
  }

  /** Mutations that cannot be read once it is armed. */
  private static final class Failing extends AbstractList<Mutation> {
    private final List<Mutation> mutations;
    private final Runnable failure;
    private boolean armed;

    Failing(List<Mutation> mutations, Runnable failure) {
      this.mutations = mutations;
      this.failure = failure;
    }

    @Override
    public Mutation get(int index) {
      if (armed && index == 1) {
        failure.run();
      }
      return mutations.get(index);
    }

    @Override
    public int size() {
      return mutations.size();
    }
  }

  /**
   * Commits from four threads while the heap is filled and emptied, then says with its status
   * whether all is well.
   */
  static final class FullHeap {
    private static final int WRITERS = 4;
    private static final int FILLS = 15;
    private static final long FULL_NANOS = 30_000_000;
    private static final int VALUE_BYTES = 50_000;
    private static final int PIECE_BYTES = 512;

    private static volatile boolean over;
    private static volatile Object[] filling;

    private FullHeap() {}

    public static void main(String[] arguments) throws InterruptedException {
      Set<String> acknowledged = ConcurrentHashMap.newKeySet();
      EngineOptions options = EngineOptions.defaults().withMemory(8 << 20, 1 << 20);
      try (RocksEngine engine = RocksEngine.open(Path.of(arguments[0]), options)) {
        List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
          String name = "w." + i;
          Thread writer = new Thread(() -> write(engine, name, acknowledged), name);
          writer.setDaemon(true);
          writer.start();
          writers.add(writer);
        }
        // A class that finds no memory for its initialization is lost, and no server's are so new.
        Await.until("all write", () -> acknowledged.size() > 10 * WRITERS);
        for (int i = 0; i < FILLS; i++) {
          fill();
          int before = acknowledged.size();
          Await.until("writes go on", () -> acknowledged.size() > before);
        }
        over = true;
        for (Thread writer : writers) {
          writer.join(TimeUnit.SECONDS.toMillis(SECONDS / 4));
          assertThat(writer.isAlive()).as("%s waits for an answer", writer).isFalse();
        }
        assertThat(CrashLoad.audit(engine, acknowledged)).isEmpty();
      }
    }

    private static void write(Engine engine, String name, Set<String> acknowledged) {
      for (int number = 0; !over; number++) {
        try {
          String id = String.format("%s-%07d", name, number);
          CrashLoad.transaction(name, id)
              .set(bytes("large/" + name), new byte[VALUE_BYTES])
              .on(engine);
          acknowledged.add(id);
        } catch (Throwable notStored) {
          LockSupport.parkNanos(1);
        }
      }
    }

    /** Keeps the heap full for a moment, except for pieces that come free meanwhile. */
    private static void fill() {
      long fullSince = 0;
      while (fullSince == 0 || System.nanoTime() - fullSince < FULL_NANOS) {
        try {
          filling = new Object[] {filling, new byte[PIECE_BYTES]};
        } catch (OutOfMemoryError full) {
          fullSince = fullSince == 0 ? System.nanoTime() : fullSince;
        }
      }
      filling = null;
    }
  }
}
