package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static lectus.store.embedded.engine.Commits.rows;
import static lectus.store.embedded.engine.Commits.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.CommitRequest.Mutation;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RocksEngineTest {
  private static final byte[] ONE = {1, 0, 0, 0, 0, 0, 0, 0};

  @TempDir Path folder;

  @AutoClose private RocksEngine engine;

  @BeforeEach
  void open() {
    engine = RocksEngine.open(folder, EngineOptions.defaults());
  }

  @Test
  void commit_is_readable_once_its_future_is_complete() {
    CommitReceipt receipt = commit().set("k", "v").on(engine);

    assertThat(get(engine, "k")).isEqualTo("v");
    assertThat(receipt.version()).isLessThanOrEqualTo(engine.readVersion());
  }

  @Test
  void snapshot_does_not_move() {
    commit().set("k", "1").on(engine);
    try (StoreSnapshot before = engine.latest()) {
      commit().set("k", "2").set("l", "2").on(engine);

      assertThat(text(before.get(bytes("k")))).isEqualTo("1");
      assertThat(rows(before, "", "z")).containsExactly("k=1");
    }
    assertThat(rows(engine, "", "z")).containsExactly("k=2", "l=2");
  }

  @Test
  void reader_of_a_changed_key_loses() {
    try (StoreSnapshot before = engine.latest()) {
      commit().set("k", "1").on(engine);

      assertThat(commit().at(before.version()).read("k").set("x", "").codeOn(engine))
          .isEqualTo(1020);
      assertThat(commit().at(before.version()).read("l").set("x", "").codeOn(engine)).isZero();
    }
  }

  @Test
  void reverse_scan_walks_from_the_end() {
    commit().set("a", "1").set("b", "2").set("c", "3").on(engine);
    List<String> keys = new ArrayList<>();
    try (StoreSnapshot snapshot = engine.latest();
        Cursor cursor = snapshot.scan(bytes("a"), bytes("c"), true)) {
      while (cursor.next()) {
        keys.add(text(cursor.key()));
      }
    }
    assertThat(keys).containsExactly("b", "a");
  }

  @Test
  void commits_of_one_group_share_a_version() {
    List<CompletableFuture<CommitReceipt>> futures = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      byte[] template = new byte[15];
      template[0] = 'p';
      template[11] = 1;
      futures.add(
          engine.commit(
              commit()
                  .atomic(MutationType.SET_VERSIONSTAMPED_KEY, template, bytes("" + i))
                  .request()));
    }
    List<CommitReceipt> receipts = futures.stream().map(CompletableFuture::join).toList();

    assertThat(receipts).doesNotHaveDuplicates();
    assertThat(receipts.stream().map(CommitReceipt::version).distinct().count()).isLessThan(500);
    assertThat(rows(engine, "p", "q").stream().map(row -> row.substring(12)).toList())
        .containsExactlyElementsOf(
            java.util.stream.IntStream.range(0, 500).mapToObj(Integer::toString).toList());
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
