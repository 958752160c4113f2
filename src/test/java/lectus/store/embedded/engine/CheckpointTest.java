package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lectus.error.FoundationDbError;
import lectus.store.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder that shares the store's files, and is a store when it was copied. */
class CheckpointTest {
  private static final int ROUNDS = 3;
  private static final int COMMITS_BETWEEN = 50;

  @TempDir private Path temporary;

  private Path store() {
    return temporary.resolve("store");
  }

  private static RocksEngine open(Path folder) {
    return RocksEngine.open(folder, EngineOptions.defaults());
  }

  @Test
  void a_copy_of_it_has_all_that_was_acknowledged_before_and_nothing_of_what_was_not() {
    AtomicInteger acknowledged = new AtomicInteger();
    AtomicBoolean ended = new AtomicBoolean();
    try (RocksEngine engine = open(store())) {
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(
              () -> {
                while (!ended.get()) {
                  commit().set("k" + acknowledged.get(), "v").on(engine);
                  acknowledged.incrementAndGet();
                }
              });
      for (int round = 0; round < ROUNDS; round++) {
        int wanted = acknowledged.get() + COMMITS_BETWEEN;
        Await.until("the writer goes on", () -> acknowledged.get() >= wanted);
        int before = acknowledged.get();
        Path made = engine.checkpoint();
        int after = acknowledged.get();
        Path copy = temporary.resolve("copy" + round);
        Folders.copy(made, copy);
        assertHolds(copy, before, after);
      }
      ended.set(true);
      writer.join();
    }
  }

  private static void assertHolds(Path copy, int atLeast, int atMost) {
    try (RocksEngine again = open(copy)) {
      int found = 0;
      while (get(again, "k" + found) != null) {
        found++;
      }
      // The writer may have one commit on its way.
      assertThat(found).isBetween(atLeast, atMost + 1);
      assertThat(get(again, "k" + (found + 1))).isNull();
      long version = again.readVersion();
      assertThat(commit().set("later", "w").on(again).version()).isGreaterThan(version);
    }
  }

  @Test
  void the_next_one_takes_its_place_and_links_the_tables() throws IOException {
    try (RocksEngine engine = open(store())) {
      commit().set("a", "1").on(engine);
      Path first = engine.checkpoint();
      Files.createFile(first.resolve("mark"));
      commit().set("a", "2").on(engine);

      Path second = engine.checkpoint();

      assertThat(second).isEqualTo(first).isEqualTo(store().resolve("checkpoint"));
      assertThat(second.resolve("mark")).doesNotExist();
      assertThat(store().resolve("checkpoint.new")).doesNotExist();
      assertThat(inodes(store().resolve("rocks"))).containsAll(inodes(second.resolve("rocks")));
    }
    // A store is opened whatever lies there, and a stopped one can be read.
    Files.createDirectories(store().resolve("checkpoint.new"));
    try (RocksEngine again = open(store());
        ReadOnlyEngine copy =
            ReadOnlyEngine.open(store().resolve("checkpoint"), EngineOptions.defaults())) {
      assertThat(get(again, "a")).isEqualTo("2");
      assertThat(get(copy, "a")).isEqualTo("2");
      again.checkpoint();
    }
  }

  /** Returns the numbers of the tables, which are never changed. */
  private static Set<Object> inodes(Path rocks) throws IOException {
    Set<Object> found = new HashSet<>();
    try (Stream<Path> files = Files.list(rocks)) {
      for (Path file : files.filter(it -> it.toString().endsWith(".sst")).toList()) {
        found.add(Files.getAttribute(file, "unix:ino"));
      }
    }
    assertThat(found).isNotEmpty();
    return found;
  }

  @Test
  void a_closed_store_makes_none() {
    RocksEngine engine = open(store());
    engine.close();

    assertThatThrownBy(engine::checkpoint)
        .isInstanceOfSatisfying(
            FDBException.class,
            refused ->
                assertThat(refused.getCode())
                    .isEqualTo(FoundationDbError.TRANSACTION_CANCELLED.code()));
  }
}
