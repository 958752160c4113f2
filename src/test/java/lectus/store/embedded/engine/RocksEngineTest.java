package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static lectus.store.embedded.engine.Commits.rows;
import static lectus.store.embedded.engine.Commits.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.error.NotInMemoryException;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RocksEngineTest {
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
  void what_was_just_written_is_in_memory() {
    commit().set("k", "1").on(engine);
    try (StoreSnapshot then = engine.latest()) {
      commit().set("k", "2").on(engine);
      assertThat(text(then.getFromMemory(bytes("k")))).isEqualTo("1");
      try (StoreSnapshot now = engine.latest()) {
        assertThat(text(now.getFromMemory(bytes("k")))).isEqualTo("2");
      }
    }
  }

  /** After a restart, only what opening needs has been read of the files. */
  @Test
  void what_is_on_disk_is_not_in_memory_until_somebody_has_read_it() {
    Commits many = commit();
    for (int i = 0; i < 1_000; i++) {
      many.set("k" + i, "v".repeat(1_000));
    }
    many.on(engine);
    engine.close();
    open();
    try (StoreSnapshot snapshot = engine.latest()) {
      assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k500")))
          .isInstanceOf(NotInMemoryException.class);
      assertThat(snapshot.get(bytes("k500"))).hasSize(1_000);
      assertThat(snapshot.getFromMemory(bytes("k500"))).hasSize(1_000);
    }
  }

  @Test
  void a_closed_snapshot_has_nothing_in_memory_either() {
    StoreSnapshot snapshot = engine.latest();
    snapshot.close();
    assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k"))).hasMessageContaining("cancelled");
  }
}
