package lectus.derived.rows;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lectus.audit.testing.SoundStore;
import lectus.database.testing.TestLayout;
import lectus.derived.rows.JobWorker.JobTransactions;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Workers die between any two transactions, their commits are lost, arrive late or have no answer,
 * and meanwhile documents are written, deleted and purged, shards are added and the index or the
 * feed is defined anew. The job ends exactly. {@code -Dlectus.test.job-rounds} sets how often.
 */
final class KilledWorkersTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int ROUNDS = Integer.getInteger("lectus.test.job-rounds", 6);
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_123);
  private static final int ACTIONS = 120;
  private static final int DOCUMENTS = 230;
  private static final int WORKERS = 3;

  @ParameterizedTest
  @EnumSource(Kept.class)
  void a_job_ends_exactly_whatever_happens_to_its_workers(Kept kept) {
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      try {
        new Round(kept, seed).run();
      } catch (RuntimeException | AssertionError failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
  }

  private static final class Round {
    private final Kept kept;
    private final Random random;
    private final FaultyStore faulty = new FaultyStore(stores.fresh(), true);
    private final Store store = faulty.store();
    private final TestDatabase db = TestDatabase.open(store, "db");
    private final List<JobWorker> workers = new ArrayList<>();
    private long versions;
    private boolean isFailing;
    private int generations = 1;

    Round(Kept kept, long seed) {
      this.kept = kept;
      this.random = new Random(seed);
    }

    void run() {
      db.catalogue.create(db.name, TestLayout.options(false, 1 + random.nextInt(3)));
      Kept.write(db, 0, DOCUMENTS / 2);
      reshard();
      Kept.write(db, DOCUMENTS / 2, DOCUMENTS);
      kept.define(db, random.nextInt(2));
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
      for (int steps = 0; steps < 1_000 && !kept.isReadable(db); steps++) {
        pass();
        workers.forEach(this::step);
      }
      assertThat(kept.isReadable(db)).isTrue();
    }

    private JobWorker worker() {
      return kept.worker(db, 3 + random.nextInt(20));
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
      versions += JobTransactions.LIFE_VERSIONS + 1;
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

    private void editOne() {
      String id = "d" + random.nextInt(DOCUMENTS + 20);
      List<EditBranch> branches = db.branches(id);
      boolean isLive = !branches.isEmpty() && !branches.get(0).deleted();
      int which = random.nextInt(8);
      if (isLive && which < 2) {
        db.write(deletion(id, branches.get(0).leaf()));
      } else if (isLive && which == 2) {
        db.write(Purging.of(id, branches.get(0).leaf()));
      } else if (which == 3) {
        db.replicate(id, Kept.body(random.nextInt(35)), "1-" + random.nextInt(3));
      } else {
        RevisionId base = isLive ? branches.get(0).leaf() : null;
        db.write(edit(id, base, Kept.body(random.nextInt(35))));
      }
    }

    private void reshard() {
      if (generations++ < 5) {
        db.catalogue.reshard(db.name, 1 + random.nextInt(4));
      }
    }

    private void redefine() {
      if (random.nextInt(3) == 0) {
        kept.remove(db);
      }
      kept.define(db, random.nextInt(2));
    }
  }
}
