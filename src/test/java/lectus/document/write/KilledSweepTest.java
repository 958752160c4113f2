package lectus.document.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import lectus.audit.testing.SoundStore;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.testing.TestDatabase;
import lectus.store.EmbeddedStores;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.TestJava;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that is killed while it sweeps leaves a sound store, and another one goes on. */
final class KilledSweepTest {
  private static final long WRITTEN_AT = 1_800_000_000;
  private static final int TOMBSTONES = 6_000;

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @Test
  void a_sweep_goes_on_after_a_kill_once_the_lease_is_over(@TempDir Path data) throws Exception {
    try (Store store = EmbeddedStores.open(data)) {
      TestDatabase db = TestDatabase.create(store);
      new AutoPurge(db.catalogue, db.transactions)
          .put(db.name, TestDatabase.utf8("{\"deleted_document_ttl\":\"1_min\"}"));
      db.put("live", "{}");
      db.write(tombstones());
      TombstoneSweep first = sweep(db, WRITTEN_AT);
      all(first);
      first.giveBack();
    }

    killAfterTheFirstPiece(data);

    try (Store store = EmbeddedStores.open(data)) {
      TestDatabase db = TestDatabase.open(store, "db");
      SoundStore.assertSound(store);
      long left = db.statistics().deletedDocuments();
      assertThat(left).isPositive().isLessThan(TOMBSTONES);
      TombstoneSweep next = sweep(db, WRITTEN_AT + 120);
      endLeases(db);
      all(next);
      assertThat(db.statistics().deletedDocuments()).isZero();
      assertThat(db.branches("live")).hasSize(1);
      SoundStore.assertSound(store);
    }
  }

  private static List<ReplicatedEdit> tombstones() {
    List<ReplicatedEdit> edits = new ArrayList<>();
    for (int i = 0; i < TOMBSTONES; i++) {
      edits.add(TestDatabase.replicated("d" + i, "{\"_deleted\":true}", "2-b", "1-a"));
    }
    return edits;
  }

  /** The ten seconds of the killed process in no time. */
  private static void endLeases(TestDatabase db) {
    db.transactions.runIdempotent(
        tx -> {
          tx.clear(RootSubspace.LEASES.range(db.store.rootPrefix()));
          return null;
        });
  }

  private static void killAfterTheFirstPiece(Path data) throws IOException, InterruptedException {
    List<String> command = TestJava.command(128);
    command.addAll(List.of(Sweeper.class.getName(), data.toString()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader out = process.inputReader()) {
      String line = out.readLine();
      while (line != null && !line.equals(Sweeper.PURGED)) {
        line = out.readLine();
      }
      assertThat(line).isNotNull();
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static TombstoneSweep sweep(TestDatabase db, long seconds) {
    return new TombstoneSweep(
        db.store, db.catalogue, db.writer, () -> Instant.ofEpochSecond(seconds));
  }

  private static void all(TombstoneSweep sweep) {
    boolean more;
    do {
      more = sweep.step();
    } while (more);
  }

  /** Tells of its first piece, and goes on until it is killed. */
  static final class Sweeper {
    static final String PURGED = "purged some";

    private Sweeper() {}

    public static void main(String[] arguments) throws InterruptedException {
      Store store = EmbeddedStores.open(Path.of(arguments[0]));
      TombstoneSweep sweep = sweep(TestDatabase.open(store, "db"), WRITTEN_AT + 120);
      sweep.step();
      System.out.println(PURGED);
      sweep.step();
      Thread.currentThread().join();
    }
  }
}
