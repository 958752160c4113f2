package lectus.derived.rows;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lectus.audit.testing.SoundStore;
import lectus.database.testing.TestLayout;
import lectus.document.testing.TestDatabase;
import lectus.revision.EditBranch;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Processes that build an index or fill a feed, write and delete documents and add shards are
 * killed; the next one goes on. {@code -Dlectus.test.job-kills} sets how often.
 */
final class KilledServersTest {
  private static final int ROUNDS = Integer.getInteger("lectus.test.job-kills", 2);
  private static final int DOCUMENTS = 230;
  private static final int MAX_STEPS = 60;
  private static final int MAX_DOCUMENTS = 5;

  @TempDir Path folder;
  private final Random random = new Random(7);

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @ParameterizedTest
  @EnumSource(Kept.class)
  void a_job_goes_on_and_ends_exactly_when_its_server_is_killed(Kept kept) throws Exception {
    try (Store store = EmbeddedStores.open(folder)) {
      TestDatabase db = TestDatabase.open(store, "db");
      db.catalogue.create(db.name, TestLayout.options(false, 3));
      Kept.write(db, 0, DOCUMENTS);
      kept.define(db, 0);
    }
    for (int round = 1; round <= ROUNDS; round++) {
      buildUntilKilled(kept);
      look(kept, round);
    }
  }

  /** After some rounds the job is done, and another one begins. */
  private void look(Kept kept, int round) {
    try (Store store = EmbeddedStores.open(folder)) {
      SoundStore.assertSound(store);
      TestDatabase db = TestDatabase.open(store, "db");
      if (round == ROUNDS) {
        finish(kept, db);
        SoundStore.assertSound(store);
      } else if (kept.isReadable(db)) {
        kept.define(db, round);
      }
    }
  }

  /** The killed worker's claim is younger than four seconds, and versions stood still. */
  private static void finish(Kept kept, TestDatabase db) {
    JobWorker worker = kept.worker(db, MAX_DOCUMENTS);
    Await.until(
        "the job ends",
        () -> {
          worker.step();
          return kept.isReadable(db);
        });
  }

  private void buildUntilKilled(Kept kept) throws Exception {
    List<String> command = TestJava.command(256);
    command.addAll(List.of(Server.class.getName(), folder.toString(), kept.name()));
    Process server =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    int steps = 1 + random.nextInt(MAX_STEPS);
    try (BufferedReader lines = server.inputReader()) {
      int noted = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        noted += line.endsWith(Server.STEP) ? 1 : 0;
        if (noted == steps) {
          server.toHandle().destroyForcibly();
        }
      }
      assertThat(noted).isPositive();
    } finally {
      server.destroyForcibly();
    }
    assertThat(server.waitFor(30, TimeUnit.SECONDS)).isTrue();
  }

  /** Builds and writes until it is killed. */
  static final class Server {
    static final String STEP = "a step";

    private Server() {}

    public static void main(String[] arguments) {
      Store store = EmbeddedStores.open(Path.of(arguments[0]));
      TestDatabase db = TestDatabase.open(store, "db");
      Kept kept = Kept.valueOf(arguments[1]);
      for (int i = 0; i < 2; i++) {
        JobWorker worker = kept.worker(TestDatabase.open(store, "db"), MAX_DOCUMENTS);
        Thread thread = new Thread(() -> build(worker));
        thread.setDaemon(true);
        thread.start();
      }
      for (int edits = 0; edits < 10_000; edits++) {
        change(db, "d" + edits * 31 % DOCUMENTS, edits);
        if (edits % 23 == 7) {
          db.catalogue.reshard(db.name, 1 + edits % 4);
        }
        System.out.println(STEP);
      }
    }

    private static void change(TestDatabase db, String id, int edits) {
      EditBranch winner = db.winner(id);
      if (winner.deleted()) {
        db.write(edit(id, null, Kept.body(edits)));
      } else if (edits % 11 == 3) {
        db.write(deletion(id, winner.leaf()));
      } else {
        db.write(edit(id, winner.leaf(), Kept.body(edits)));
      }
    }

    private static void build(JobWorker worker) {
      while (true) {
        worker.step();
      }
    }
  }
}
