package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.rows;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClearTest {
  private static final byte[] ONE = {1};

  @TempDir Path folder;
  private final TurnedByHand hand = new TurnedByHand();
  @AutoClose private RocksEngine engine;

  @BeforeEach
  void open() {
    engine =
        RocksEngine.open(folder, EngineOptions.defaults().with(TestOptions.threads(hand, hand)));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, StoreReader.FEW_KEYS, StoreReader.FEW_KEYS + 1, 1000})
  void removes_every_key_of_the_range_and_no_other(int keys) {
    Commits before = commit().set("a", "").set("b", "end");
    for (int i = 0; i < keys; i++) {
      before.set(String.format("a%05d", i), "");
    }
    group(before);
    try (StoreSnapshot earlier = engine.latest()) {
      byte[] some = bytes("a00000");
      for (int read = 0; read < 3; read++) {
        assertThat(earlier.get(some) != null).isEqualTo(keys > 0);
      }
      group(commit().clear("a\0", "b").set("a5", "later"));

      assertThat(rows(engine, "", "z")).containsExactly("a=", "a5=later", "b=end");
      assertThat(rows(earlier, "", "z")).hasSize(keys + 2);
      assertThat(earlier.get(some) != null).isEqualTo(keys > 0);
      try (StoreSnapshot later = engine.latest()) {
        assertThat(later.get(some)).isNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, StoreReader.FEW_KEYS, StoreReader.FEW_KEYS + 1})
  void sees_what_the_same_group_set_before(int keys) {
    String head = "a head longer than eight bytes/";
    Commits before = commit();
    for (int i = 0; i < keys; i++) {
      before.set(String.format("%s%05d", head, i), "");
    }
    Commits other = commit().set("another head of the same length/", "");
    Commits clear = commit().clear(head, head + "\u00ff");
    Commits after = commit().set(head + "after", "");

    group(before, other, clear, after);

    assertThat(rows(engine, "", "z"))
        .containsExactly(head + "after=", "another head of the same length/=");
  }

  @Test
  void sees_what_its_own_transaction_set_before() {
    group(commit().set("a1", "").clear("a", "b").set("a2", ""));

    assertThat(rows(engine, "", "z")).containsExactly("a2=");
  }

  @Test
  void atomic_operation_after_a_clear_in_the_same_group_finds_nothing() {
    Commits before = commit().set("few", "\5").set("single", "\5");
    for (int i = 0; i <= StoreReader.FEW_KEYS; i++) {
      before.set("many" + i, "\5");
    }
    group(before);

    group(
        commit().clear("few", "few1").clear("many", "many~").clear("single", "single\0"),
        commit()
            .atomic(MutationType.ADD, bytes("few"), ONE)
            .atomic(MutationType.ADD, bytes("many7"), ONE)
            .atomic(MutationType.ADD, bytes("single"), ONE)
            .atomic(MutationType.ADD, bytes("many7"), ONE));

    assertThat(rows(engine, "", "z")).containsExactly("few=\1", "many7=\2", "single=\1");
  }

  @Test
  void atomic_operations_of_one_group_build_on_each_other() {
    List<Commits> adders = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      adders.add(commit().atomic(MutationType.ADD, bytes("n"), ONE));
    }
    adders.add(50, commit().set("n", "\0"));
    group(adders.toArray(Commits[]::new));

    assertThat(rows(engine, "", "z")).containsExactly("n=\62");
  }

  private void group(Commits... commits) {
    List<CompletableFuture<CommitReceipt>> futures = new ArrayList<>();
    for (Commits each : commits) {
      futures.add(engine.commit(each.request()));
    }
    hand.run();
    assertThat(futures.stream().map(future -> future.join().version()).distinct()).hasSize(1);
  }
}
