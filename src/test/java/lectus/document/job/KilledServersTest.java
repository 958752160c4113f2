package lectus.document.job;

import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lectus.audit.testing.SoundStore;
import lectus.database.CreationOptions;
import lectus.document.edit.Edit;
import lectus.document.index.FilledIndexes;
import lectus.document.testing.TestDatabase;
import lectus.index.StoredIndex;
import lectus.revision.RevisionId;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that build an index and write documents are killed; the next one goes on. {@code
 * -Dlectus.test.job-kills} sets how often.
 */
final class KilledServersTest {
  private static final int ROUNDS = Integer.getInteger("lectus.test.job-kills", 2);
  private static final int DOCUMENTS = 230;
  private static final int MOST_STEPS = 60;
  private static final String DESIGN = "_design/i";

  @TempDir Path folder;
  private final Random random = new Random(7);

  @BeforeAll
  static void onlyEmbedded() {
    TestStores.onlyEmbedded();
  }

  @Test
  void a_job_goes_on_and_ends_exactly_when_its_server_is_killed() throws Exception {
    try (Store store = EmbeddedStores.open(folder)) {
      TestDatabase db = TestDatabase.open(store, "db");
      db.catalogue.create(db.name, new CreationOptions(false, 3));
      List<Edit> edits = new ArrayList<>();
      for (int i = 0; i < DOCUMENTS; i++) {
        edits.add(edit("d" + i, null, "{\"a\":" + i % 7 + "}"));
      }
      db.write(edits);
      db.put(DESIGN, definition(0));
    }
    for (int round = 1; round <= ROUNDS; round++) {
      buildUntilKilled();
      look(round);
    }
  }

  /** After some rounds the job is done, and another one begins. */
  private void look(int round) {
    try (Store store = EmbeddedStores.open(folder)) {
      SoundStore.assertSound(store);
      TestDatabase db = TestDatabase.open(store, "db");
      if (round == ROUNDS) {
        finish(store, db);
        SoundStore.assertSound(store);
      } else if (isReadable(db)) {
        db.put(DESIGN, db.winner(DESIGN).leaf(), definition(round));
      }
    }
  }

  /** The killed worker's claim is younger than four seconds, and versions stood still. */
  private static void finish(Store store, TestDatabase db) {
    JobWorker worker = worker(store, db);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!isReadable(db)) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      worker.step();
    }
  }

  private static boolean isReadable(TestDatabase db) {
    return db.catalogue.open(db.name).indexes().all().stream().allMatch(StoredIndex::isReadable);
  }

  private static JobWorker worker(Store store, TestDatabase db) {
    return new JobWorker(store, db.catalogue, List.of(new FilledIndexes()), () -> false, 5);
  }

  private static String definition(int round) {
    String field = round % 2 == 0 ? "a" : "b";
    return "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\""
        + field
        + "\":\"asc\"},\"partial_filter_selector\":{}},\"reduce\":\"_count\",\"options\":{"
        + "\"def\":{\"fields\":[\""
        + field
        + "\"]}}}}}";
  }

  private void buildUntilKilled() throws Exception {
    Process server =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                Server.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    int steps = 1 + random.nextInt(MOST_STEPS);
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
      for (int i = 0; i < 2; i++) {
        JobWorker worker = worker(store, TestDatabase.open(store, "db"));
        Thread thread = new Thread(() -> build(worker));
        thread.setDaemon(true);
        thread.start();
      }
      for (int edits = 0; edits < 10_000; edits++) {
        String id = "d" + edits * 31 % DOCUMENTS;
        RevisionId leaf = db.winner(id).leaf();
        db.write(edit(id, leaf, "{\"a\":" + edits + ",\"b\":" + edits % 5 + "}"));
        System.out.println(STEP);
      }
    }

    private static void build(JobWorker worker) {
      while (true) {
        worker.step();
      }
    }
  }
}
