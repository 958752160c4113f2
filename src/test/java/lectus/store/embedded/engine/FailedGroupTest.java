package lectus.store.embedded.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.List;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Failures while a group is checked, before anything of it is written. */
class FailedGroupTest {
  private static final byte[] ONE = {1, 0, 0, 0, 0, 0, 0, 0};

  @TempDir Path folder;
  private RocksEngine engine;

  @BeforeEach
  void open() {
    engine = RocksEngine.open(folder, EngineOptions.defaults());
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void lack_of_memory_ends_its_own_commit_alone() {
    assertThatThrownBy(() -> engine.commit(withoutMemory()).join())
        .hasRootCauseInstanceOf(FDBException.class)
        .hasMessageContaining("may or may not");

    assertThat(Commits.commit().set("k", "v").codeOn(engine)).isZero();
    assertThat(Commits.rows(engine, "a", "z")).containsExactly("k=v");
  }

  @Test
  void counter_of_failed_commit_is_as_it_was() {
    add().on(engine);
    assertThatThrownBy(() -> engine.commit(withoutMemory()).join())
        .hasRootCauseInstanceOf(FDBException.class);
    add().on(engine);

    assertThat(Commits.get(engine, "counter").charAt(0)).isEqualTo((char) 2);
  }

  private static Commits add() {
    return Commits.commit().atomic(MutationType.ADD, Commits.bytes("counter"), ONE);
  }

  /**
   * Adds to the counter, then fails, except in the first two calls, which compute the commit's
   * size.
   */
  private static CommitRequest withoutMemory() {
    List<Mutation> mutations = add().request().mutations();
    return new CommitRequest(
        -1,
        List.of(),
        List.of(),
        new AbstractList<>() {
          private int reads;

          @Override
          public Mutation get(int index) {
            if (index == 0) {
              reads++;
              return mutations.get(0);
            }
            if (reads > 2) {
              throw new OutOfMemoryError("of this test");
            }
            return new Mutation.Set(Commits.bytes("lost"), Commits.bytes("v"));
          }

          @Override
          public int size() {
            return 2;
          }
        },
        true,
        false);
  }
}
