package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Closing under concurrent use. Freeing memory that a thread still uses would crash the process.
 */
class ClosingTest {
  private static final Duration NO_PATIENCE = Duration.ofMillis(50);

  @TempDir Path folder;

  @Test
  void stalled_commit_is_waited_for_and_stored() {
    RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults());
    Stall stall = new Stall();
    CompletableFuture<CommitReceipt> commit = engine.commit(stall.request());
    stall.awaitBegin();

    engine.close(NO_PATIENCE);
    assertThat(commit).isNotDone();
    assertThat(opens()).isFalse();

    stall.end();
    assertThat(commit.join().version()).isPositive();
    Await.until("the store is closed", this::opens);
    try (RocksEngine again = RocksEngine.open(folder, EngineOptions.defaults())) {
      assertThat(Commits.rows(again, "a", "z")).containsExactly("k=v");
    }
  }

  @Test
  void read_under_way_is_waited_for() {
    RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults());
    Commits.commit().set("k", "v").on(engine);
    StoreSnapshot snapshot = engine.latest();

    engine.close(NO_PATIENCE);

    assertThat(opens()).isTrue();
    snapshot.close();
  }

  private boolean opens() {
    try {
      RocksEngine.open(folder, EngineOptions.defaults()).close();
      return true;
    } catch (StoreOpenException held) {
      return false;
    }
  }

  /** A commit on which the committer blocks. */
  private static final class Stall {
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);

    CommitRequest request() {
      Mutation.Atomic read = // Reads the store once the stall is over.
          new Mutation.Atomic(
              com.apple.foundationdb.MutationType.BYTE_MAX, Commits.bytes("k"), Commits.bytes("v"));
      return new CommitRequest(
          -1,
          List.of(),
          List.of(),
          new AbstractList<Mutation>() {
            private int reads;

            @Override
            public Mutation get(int index) {
              if (reads++ > 1) { // Twice by the thread that requests the commit.
                begun.countDown();
                await(over);
              }
              return read;
            }

            @Override
            public int size() {
              return 1;
            }
          },
          true,
          false);
    }

    void awaitBegin() {
      await(begun);
    }

    void end() {
      over.countDown();
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
