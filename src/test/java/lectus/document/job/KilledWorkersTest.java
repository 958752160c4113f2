package lectus.document.job;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lectus.audit.testing.SoundStore;
import lectus.database.CreationOptions;
import lectus.document.edit.Edit;
import lectus.document.index.FilledIndexes;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.revision.EditBranch;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Workers die between any two transactions, their commits are lost, arrive late or have no answer,
 * and meanwhile documents are written, shards are added and the index is defined anew. The job ends
 * exactly. {@code -Dlectus.test.job-rounds} sets how often.
 */
final class KilledWorkersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int ROUNDS = Integer.getInteger("lectus.test.job-rounds", 6);
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_123);
  private static final int ACTIONS = 120;
  private static final int DOCUMENTS = 230;
  private static final int WORKERS = 3;
  private static final String DESIGN = "_design/i";

  @Test
  void a_job_ends_exactly_whatever_happens_to_its_workers() {
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      try {
        new Round(seed).run();
      } catch (RuntimeException | AssertionError failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
  }

  private static final class Round {
    private final Random random;
    private final FaultyStore faulty = new FaultyStore(stores.fresh(), true);
    private final Store store = faulty.store();
    private final TestDatabase db = TestDatabase.open(store, "db");
    private final List<JobWorker> workers = new ArrayList<>();
    private long versions;
    private boolean isFailing;
    private int generations = 1;

    Round(long seed) {
      this.random = new Random(seed);
    }

    void run() {
      db.catalogue.create(db.name, new CreationOptions(false, 1 + random.nextInt(3)));
      write(0, DOCUMENTS / 2);
      reshard();
      write(DOCUMENTS / 2, DOCUMENTS);
      define();
      for (int i = 0; i < WORKERS; i++) {
        workers.add(worker());
      }
      faulty.keepFailing(this::fault);
      for (int action = 0; action < ACTIONS; action++) {
        act();
      }
      isFailing = false;
      faulty.heal();
      faulty.deliver();
      finish();
      SoundStore.assertSound(store);
    }

    private void finish() {
      workers.add(worker());
      for (int steps = 0; steps < 1_000 && !isReadable(); steps++) {
        pass();
        workers.forEach(this::step);
      }
      assertThat(isReadable()).isTrue();
    }

    private boolean isReadable() {
      return db.catalogue.open(db.name).indexes().all().stream()
          .allMatch(index -> index.isReadable());
    }

    private JobWorker worker() {
      int most = 3 + random.nextInt(20);
      return new JobWorker(store, db.catalogue, List.of(new FilledIndexes()), () -> false, most);
    }

    private Fault fault() {
      Fault[] all = Fault.values();
      return isFailing && random.nextInt(3) == 0 ? all[random.nextInt(all.length)] : Fault.NONE;
    }

    private void act() {
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3 -> editOne();
        case 4 -> workers.set(random.nextInt(WORKERS), worker());
        case 5, 6 -> pass();
        case 7 -> reshard();
        case 8 -> redefine();
        case 9 -> faulty.clearIds();
        default -> failing(workers.get(random.nextInt(WORKERS)));
      }
    }

    private void pass() {
      versions += TaskClaims.LIFE_VERSIONS + 1;
      faulty.goOnBy(versions);
    }

    private void failing(JobWorker worker) {
      isFailing = true;
      step(worker);
      isFailing = false;
    }

    /** What a server logs, before it tries again. */
    private void step(JobWorker worker) {
      try {
        worker.step();
      } catch (FDBException | LectusException lost) {
        assertThat(lost).hasMessageNotContaining("damaged");
      }
    }

    private void write(int from, int until) {
      List<Edit> edits = new ArrayList<>();
      for (int i = from; i < until; i++) {
        edits.add(edit("d" + i, null, "{\"a\":" + i % 7 + "}"));
      }
      db.write(edits);
    }

    private void editOne() {
      String id = "d" + random.nextInt(DOCUMENTS + 20);
      List<EditBranch> branches = db.branches(id);
      boolean isLive = !branches.isEmpty() && !branches.get(0).deleted();
      if (isLive && random.nextInt(4) == 0) {
        db.write(deletion(id, branches.get(0).leaf()));
      } else {
        db.write(
            edit(
                id,
                isLive ? branches.get(0).leaf() : null,
                random.nextInt(5) == 0 ? "{}" : "{\"a\":" + random.nextInt(7) + "}"));
      }
    }

    private void reshard() {
      if (generations++ < 5) {
        db.catalogue.reshard(db.name, 1 + random.nextInt(4));
      }
    }

    private void define() {
      List<EditBranch> branches = db.branches(DESIGN);
      boolean isLive = !branches.isEmpty() && !branches.get(0).deleted();
      db.write(edit(DESIGN, isLive ? branches.get(0).leaf() : null, definition()));
    }

    private void redefine() {
      if (random.nextInt(3) == 0) {
        db.write(deletion(DESIGN, db.winner(DESIGN).leaf()));
      }
      define();
    }

    private String definition() {
      String field = random.nextInt(4) == 0 ? "b" : "a";
      return "{\"language\":\"query\",\"n\":"
          + random.nextInt(1_000)
          + ",\"views\":{\"v\":{\"map\":{\"fields\":{\""
          + field
          + "\":\"asc\"},\"partial_filter_selector\":{}},\"reduce\":\"_count\",\"options\":{"
          + "\"def\":{\"fields\":[\""
          + field
          + "\"]}}}}}";
    }
  }
}
