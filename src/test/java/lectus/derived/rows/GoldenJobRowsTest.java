package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.derived.rows.JobsSubspace.Job;
import lectus.document.testing.TestDatabase;
import lectus.store.LeaseSubspace.Claim;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.GoldenRows;
import lectus.store.testing.TestStores;
import lectus.store.testing.WrittenRows;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The exact bytes of jobs and their tasks. */
final class GoldenJobRowsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  private final TestDatabase test = TestDatabase.create(store);
  private final DatabaseHandle db = test.catalogue.open(test.name);

  @Test
  void jobs() {
    byte[] root = store.rootPrefix();
    test.put("x", "{}");
    FillingJobs jobs = new FillingJobs(root, () -> Instant.ofEpochSecond(1_700_000_000));
    WrittenRows written =
        WrittenRows.of(
            store,
            RootSubspace.JOBS.range(root),
            tx -> {
              jobs.begin(tx, db, 3);
              jobs.begin(tx, db, 300);
            });
    byte[] ofDatabase = RootSubspace.JOBS.key(root).string(db.instance().hex()).toBytes();
    GoldenRows golden = GoldenRows.of("JobsSubspace", ofDatabase, written.stamp());

    golden.assertAre(written.rows());
    assertThat(new JobsSubspace(root).decode(golden.row("with a small number")))
        .isEqualTo(
            new Job(
                db.instance(),
                3,
                db.name(),
                Sequence.of(db.incarnation(), written.stamp(), 0xffff),
                1_700_000_000,
                1));
    assertThat(new JobsSubspace(root).decode(golden.row("with a larger number")).number())
        .isEqualTo(300);
  }

  @Test
  void tasks() {
    JobTasksSubspace tasks = new JobTasksSubspace(db);
    Claim claim = new Claim("0123456789abcdef".getBytes(StandardCharsets.US_ASCII), 77);
    byte[] commit = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    Sequence last = Sequence.of(0, commit, 2);
    TaskProgress claimed = TaskProgress.NONE.claimedBy(claim).upTo(last, 300, 2);
    TaskProgress done = TaskProgress.NONE.done();
    WrittenRows written =
        WrittenRows.of(
            store,
            DatabaseSubspace.JOB_TASKS.range(db.prefix()),
            tx -> {
              tasks.put(tx, 3, new ShardId("0"), claimed);
              tasks.put(tx, 1, ShardId.DEPRECATED, done);
            });
    GoldenRows golden = GoldenRows.of("JobTasksSubspace", db.prefix(), written.stamp());

    golden.assertAre(written.rows());
    JobTasksSubspace.Task first = tasks.decode(golden.row("claimed and on its way"));
    assertThat(first.shard()).isEqualTo(new ShardId("0"));
    assertThat(first.progress().documents()).isEqualTo(300);
    assertThat(first.progress().rows()).isEqualTo(2);
    assertThat(first.progress().last()).contains(last);
    assertThat(first.progress().claim().orElseThrow().isOf(claim.holder())).isTrue();
    KeyValue second = golden.row("done, without an entry");
    assertThat(tasks.decode(second))
        .isEqualTo(new JobTasksSubspace.Task(1, ShardId.DEPRECATED, done));
  }
}
