package lectus.derived.rows;

import static lectus.document.testing.TestDatabase.edit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseSubspace;
import lectus.database.ShardId;
import lectus.database.testing.BeforeShards;
import lectus.database.testing.TestLayout;
import lectus.derived.rows.JobTasksSubspace.TaskProgress;
import lectus.derived.rows.JobWorker.JobTransactions;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.Maintenance;
import lectus.json.MalformedTupleException;
import lectus.json.TupleWriter;
import lectus.mango.query.IndexListJson;
import lectus.metrics.Tasks.TaskState;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.FaultyStore.Operation;
import lectus.store.RootSubspace;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Jobs are found without many looks at the store, shared by all workers, and end exactly; each test
 * ends with the auditor.
 */
final class JobWorkerTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final String DESIGN = "_design/i";

  private static final String INDEX =
      "{\"language\":\"query\",\"views\":{\"v\":{\"map\":{\"fields\":{\"a\":\"asc\"},"
          + "\"partial_filter_selector\":{}},\"reduce\":\"_count\",\"options\":{\"def\":{"
          + "\"fields\":[\"a\"]}}}}}";

  /** More than an index has at once. */
  private static final int DOCUMENTS = 240;

  private final FaultyStore faulty = new FaultyStore(stores.fresh(), false);
  private final Store store = faulty.store();
  private final TestDatabase db = TestDatabase.open(store, "db");

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private final AtomicLong definitions = new AtomicLong();
  private final AtomicLong clock = new AtomicLong(-SECOND);
  private final JobList jobs = new JobList(stores.fresh(), definitions::get, clock::get);

  private JobWorker worker(int most) {
    return new JobWorker(
        store,
        db.catalogue,
        Maintenance::rows,
        () -> false,
        new JobList(store, System::nanoTime),
        most);
  }

  /** Returns a worker that has handed over ten documents. */
  private JobWorker begun() {
    JobWorker worker = worker(10);
    assertThat(worker.step()).isTrue();
    return worker;
  }

  private void create(int shards) {
    db.catalogue.create(db.name, TestLayout.options(false, shards));
  }

  /**
   * Makes a database of which a job has all documents before it, and the index's design document.
   */
  private RevisionId define(int shards) {
    create(shards);
    write(0, DOCUMENTS);
    return db.put(DESIGN, INDEX);
  }

  private void write(int from, int until) {
    List<Edit> edits = new ArrayList<>();
    for (int i = from; i < until; i++) {
      edits.add(edit("d" + i, null, "{\"a\":" + i % 7 + "}"));
    }
    db.write(edits);
  }

  private DatabaseHandle handle() {
    return db.catalogue.open(db.name);
  }

  private boolean isReadable() {
    return handle().indexes().all().get(0).isReadable();
  }

  private Map<ShardId, TaskProgress> tasks() {
    return db.read((tx, it) -> Awaiting.await(new JobTasksSubspace(it).all(tx, 1)));
  }

  private FillingJobs.Progress progress() {
    return db.read(
        (tx, it) ->
            new FillingJobs(store.rootPrefix())
                .progress(tx, it, it.indexes().all().get(0))
                .orElseThrow());
  }

  private List<String> findings() {
    return new StoreAudit(store, AuditListener.SILENT)
        .run().findings().stream().map(Object::toString).toList();
  }

  private void finish() {
    JobWorker worker = worker(100);
    while (!isReadable()) {
      assertThat(worker.step()).isTrue();
    }
  }

  private static boolean isTask(Operation operation, DatabaseHandle db) {
    return operation.method().equals("addReadConflictKey")
        && operation.isBelow(DatabaseSubspace.JOB_TASKS.key(db.prefix()).toBytes());
  }

  @Test
  void workers_share_the_shards_of_a_job() {
    define(4);
    List<JobWorker> workers = Stream.generate(() -> worker(10)).limit(5).toList();

    List<Boolean> steps = workers.stream().map(JobWorker::step).toList();
    assertThat(steps).containsExactly(true, true, true, true, false);
    assertThat(progress().tasksUnderway()).isEqualTo(4);
    assertThat(progress().documents()).isEqualTo(40);
    assertThat(progress().rows()).isEqualTo(40);
    assertThat(progress().job().documents()).isEqualTo(DOCUMENTS + 1);
    assertThat(progress().percent()).isEqualTo(16);
    assertThat(findings()).isEmpty();
    assertThat(listed())
        .contains("\"building\":{\"documents\":40,\"total_documents\":241,\"progress\":16,")
        .contains(",\"entries\":40,\"shards_done\":0,\"shards_underway\":4,\"started_on\":");
    finishBy(workers);
    assertThat(listed()).doesNotContain("building");
  }

  /** Returns what {@code GET /{db}/_index} says. */
  private String listed() {
    FillingJobs jobs = new FillingJobs(store.rootPrefix());
    return new IndexListJson(db.catalogue, db.transactions, jobs)
        .of(DatabaseRequest.byServer(db.name), 0, Optional.empty())
        .toString();
  }

  private void finishBy(List<JobWorker> workers) {
    while (!isReadable()) {
      assertThat(workers.stream().filter(JobWorker::step).count()).isPositive();
    }
  }

  @Test
  void each_task_is_shown_while_it_runs() {
    define(1);
    JobWorker worker = worker(60);

    assertThat(worker.step()).isTrue();
    TaskState shown = store.tasks().running().get(0);
    assertThat(shown.type()).isEqualTo("indexer");
    assertThat(shown.subject()).isEqualTo("db");
    assertThat(shown.details())
        .containsExactly(Map.entry("design_document", DESIGN), Map.entry("changes_shard", "0"));
    assertThat(shown.done()).isEqualTo(60);
    assertThat(shown.progress()).hasValue(24);
    while (worker.step()) {
      assertThat(findings()).isEmpty();
    }
    assertThat(isReadable()).isTrue();
    assertThat(store.tasks().running()).isEmpty();
  }

  @Test
  void all_generations_are_gone_through_and_resharding_does_not_disturb() {
    create(2);
    write(0, 100);
    db.catalogue.reshard(db.name, 3);
    write(100, 200);
    db.catalogue.reshard(db.name, 1);
    write(200, DOCUMENTS);
    db.put(DESIGN, INDEX);
    JobWorker worker = begun();
    db.catalogue.reshard(db.name, 4);
    for (int i = 0; i < 120; i++) {
      db.put("d" + i, db.winner("d" + i).leaf(), "{\"a\":\"again\"}");
    }
    db.catalogue.reshard(db.name, 2);
    write(DOCUMENTS, DOCUMENTS + 50);
    while (!isReadable()) {
      assertThat(worker.step()).isTrue();
      assertThat(findings()).isEmpty();
    }
  }

  @Test
  void what_was_written_before_shards_is_gone_through_too() {
    create(1);
    write(0, DOCUMENTS);
    BeforeShards.lay(db.transactions, handle());
    TestDatabase later = TestDatabase.open(store, "db");
    later.put(DESIGN, INDEX);

    finish();
    assertThat(findings()).isEmpty();
  }

  @Test
  void a_document_that_gets_a_losing_branch_before_its_task_comes_by_is_not_lost() {
    define(1);
    JobWorker worker = begun();
    RevisionId winner = db.winner("d200").leaf();

    db.replicate("d200", "{\"a\":1}", "1-" + "0".repeat(32));
    assertThat(db.winner("d200").leaf()).isEqualTo(winner);
    finishBy(List.of(worker));
    assertThat(findings()).isEmpty();
  }

  @Test
  void a_writer_never_waits_for_a_page_but_the_page_for_the_writer() {
    define(1);
    TestDatabase writer = TestDatabase.open(store, "db");
    RevisionId winner = writer.winner("d1").leaf();
    JobWorker worker = worker(DOCUMENTS);

    // The first commit is the claim's; the second one is the page's.
    faulty.beforeNextCommit(
        () -> faulty.beforeNextCommit(() -> writer.put("d1", winner, "{\"a\":\"now\"}")));
    assertThat(worker.step()).isTrue();
    assertThat(progress().documents()).isZero();
    assertThat(writer.winner("d1").leaf()).isNotEqualTo(winner);
    while (!isReadable()) {
      assertThat(worker.step()).isTrue();
    }
    assertThat(findings()).isEmpty();
  }

  @Test
  void a_task_is_taken_over_once_its_server_is_silent() {
    define(1);
    JobWorker dead = worker(10);
    JobWorker other = worker(10);

    assertThat(dead.step()).isTrue();
    assertThat(other.step()).isFalse();
    faulty.goOnBy(JobTransactions.LIFE_VERSIONS / 2);
    assertThat(other.step()).isFalse();
    faulty.goOnBy(JobTransactions.LIFE_VERSIONS + 60_000_000);
    assertThat(other.step()).isTrue();
    assertThat(progress().documents()).isEqualTo(20);
    assertThat(dead.step()).isTrue();
    assertThat(progress().documents()).isEqualTo(20);
    finishBy(List.of(other, dead));
  }

  @Test
  void a_holder_that_slept_commits_nothing_after_another_took_over() {
    define(1);

    assertThat(takenOverDuringAPage()).isEqualTo(40);
    faulty.goOnBy(3 * (JobTransactions.LIFE_VERSIONS + 60_000_000));
    finish();
  }

  @Test
  void without_its_fence_a_holder_that_slept_would_set_its_task_back() {
    define(1);
    DatabaseHandle handle = handle();

    faulty.lose(it -> isTask(it, handle));
    assertThat(takenOverDuringAPage()).isLessThan(40);
    faulty.lose(it -> false);
    faulty.goOnBy(3 * (JobTransactions.LIFE_VERSIONS + 60_000_000));
    finish();
  }

  /** Returns how many documents the task has passed when the sleeper has tried to commit. */
  private long takenOverDuringAPage() {
    JobWorker sleeper = worker(10);
    JobWorker other = worker(10);
    assertThat(sleeper.step()).isTrue();
    faulty.beforeNextCommit(
        () -> {
          faulty.goOnBy(JobTransactions.LIFE_VERSIONS + 60_000_000);
          for (int pages = 0; pages < 3; pages++) {
            assertThat(other.step()).isTrue();
          }
        });
    assertThat(sleeper.step()).isTrue();
    return progress().documents();
  }

  @Test
  void a_job_ends_with_what_it_fills() {
    RevisionId design = define(2);
    JobWorker worker = begun();

    RevisionId changed = db.put(DESIGN, design, INDEX.replace("\"a\"", "\"b\""));
    assertThat(worker.step()).isTrue();
    assertThat(findings()).isEmpty();
    finishBy(List.of(worker));
    db.delete(DESIGN, changed);
    assertThat(jobs()).isEmpty();
    assertThat(tasks()).isEmpty();
  }

  @Test
  void a_job_ends_with_its_database() {
    define(2);
    JobWorker worker = begun();

    db.catalogue.delete(db.name);
    create(2);
    while (worker.step()) {
      assertThat(store.tasks().running()).isEmpty();
    }
    assertThat(jobs()).isEmpty();
    assertThat(tasks()).isEmpty();
  }

  private List<KeyValue> jobs() {
    return db.transactions.read(
        tx -> Awaiting.await(tx.getRange(RootSubspace.JOBS.range(store.rootPrefix())).asList()));
  }

  @Test
  void jobs_of_a_later_version_are_left_alone_and_keep_no_other_one_waiting() {
    define(1);
    TupleWriter job = RootSubspace.JOBS.key(store.rootPrefix()).string(handle().instance().hex());
    byte[] before = new TupleWriter(job.toBytes()).integer(0).toBytes();
    byte[] behind = new TupleWriter(job.toBytes()).integer(9).toBytes();
    byte[] unknown = new TupleWriter(8).integer(2).string("?").toBytes();
    plant(List.of(before, behind), unknown);
    assertThat(findings()).hasSize(3).allMatch(it -> it.contains("newer version"));

    finish();
    assertThat(jobs()).extracting(KeyValue::getKey).containsExactly(before, behind);
    assertThat(jobs()).extracting(KeyValue::getValue).containsOnly(unknown);
    assertThat(worker(10).step()).isFalse();
    assertThat(store.tasks().running()).isEmpty();
    clear(List.of(before, behind));
  }

  @Test
  void a_job_that_cannot_be_read_is_told_and_keeps_no_other_one_waiting() {
    define(1);
    byte[] damaged =
        RootSubspace.JOBS
            .key(store.rootPrefix())
            .string(handle().instance().hex())
            .integer(7)
            .toBytes();
    plant(List.of(damaged), new byte[] {9});

    finish();
    assertThatThrownBy(worker(10)::step).isInstanceOf(MalformedTupleException.class);
    clear(List.of(damaged));
  }

  @Test
  void more_jobs_than_are_looked_at_at_once_are_looked_at_in_turn() {
    define(1);
    List<byte[]> others = new ArrayList<>();
    for (int i = 0; i < JobList.MAX_JOBS; i++) {
      others.add(RootSubspace.JOBS.key(store.rootPrefix()).string("").integer(i).toBytes());
    }
    plant(others, new TupleWriter(8).integer(99).toBytes());
    JobWorker worker = worker(DOCUMENTS);

    assertThat(worker.step()).isFalse();
    assertThat(worker.step()).isTrue();
    clear(others);
    finishBy(List.of(worker));
  }

  private void plant(List<byte[]> keys, byte[] value) {
    db.transactions.<Void>run(
        tx -> {
          keys.forEach(key -> tx.set(key, value));
          return null;
        });
  }

  private void clear(List<byte[]> keys) {
    db.transactions.<Void>run(
        tx -> {
          keys.forEach(tx::clear);
          return null;
        });
  }

  @Test
  void a_commit_of_unknown_result_counts_once() {
    define(1);
    JobWorker worker = begun();

    faulty.plan(Fault.UNKNOWN_BUT_STORED);
    assertThat(worker.step()).isTrue();
    assertThat(progress().documents()).isEqualTo(20);
    faulty.plan(Fault.UNKNOWN_AND_LOST);
    assertThat(worker.step()).isTrue();
    assertThat(progress().documents()).isEqualTo(20);
    finishBy(List.of(worker));
  }

  @Test
  void requests_go_first() {
    create(1);
    write(0, 300);
    db.put(DESIGN, INDEX);
    JobWorker worker =
        new JobWorker(
            store,
            db.catalogue,
            Maintenance::rows,
            () -> true,
            new JobList(store, System::nanoTime));

    assertThat(worker.step()).isFalse();
    assertThat(progress().documents()).isEqualTo(250);
    assertThat(worker.step()).isFalse();
    finish();
  }

  @Test
  void a_worker_that_stops_gives_its_task_to_the_next_one() {
    define(1);
    JobWorker stopped = begun();

    stopped.giveBack();
    assertThat(store.tasks().running()).isEmpty();
    assertThat(progress().tasksUnderway()).isZero();
    assertThat(worker(10).step()).isTrue();
    assertThat(progress().documents()).isEqualTo(20);
    faulty.goOnBy(JobTransactions.LIFE_VERSIONS + 60_000_000);
    finish();
  }

  @Test
  void while_nothing_changes_one_worker_looks_every_five_seconds() {
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isFalse();
    clock.addAndGet(5 * SECOND - 1);
    assertThat(jobs.isDue()).isFalse();
    clock.addAndGet(1);
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isFalse();
  }

  @Test
  void all_look_while_a_definition_may_be_on_its_way_into_the_store() {
    assertThat(jobs.isDue()).isTrue();
    definitions.incrementAndGet();
    assertThat(jobs.isDue()).isTrue();
    clock.addAndGet(6 * SECOND - 1);
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isTrue();
    clock.addAndGet(1);
    assertThat(jobs.isDue()).isFalse();
  }

  @Test
  void all_look_when_one_has_found_something() {
    assertThat(jobs.isDue()).isTrue();
    jobs.found();
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Kept.class)
  void a_task_that_skips_a_generation_is_found(Kept kept) {
    db.catalogue.create(db.name, TestLayout.options(false, 1));
    Kept.write(db, 0, 200);
    db.catalogue.reshard(db.name, 1);
    Kept.write(db, 200, DOCUMENTS);
    kept.define(db, 0);
    assertThat(kept.worker(db, 10).step()).isTrue();
    JobTasksSubspace planted = new JobTasksSubspace(db.catalogue.open(db.name));
    db.transactions.<Void>run(
        tx -> {
          planted.put(tx, 1, new ShardId("0"), TaskProgress.NONE.done());
          planted.put(tx, 1, new ShardId("1"), TaskProgress.NONE);
          return null;
        });

    assertThat(findings()).isNotEmpty().allMatch(it -> it.contains("lacks the document"));
    JobWorker worker = kept.worker(db, DOCUMENTS);
    while (!kept.isReadable(db)) {
      assertThat(worker.step()).isTrue();
    }
    assertThat(findings()).isNotEmpty().allMatch(it -> it.contains("lacks the document"));
    kept.remove(db);
  }

  @ParameterizedTest
  @EnumSource(Kept.class)
  void an_entry_that_is_not_removed_is_found(Kept kept) {
    db.catalogue.create(db.name, TestLayout.options(false, 1));
    Kept.write(db, 0, DOCUMENTS);
    kept.define(db, 0);
    assertThat(kept.worker(db, DOCUMENTS).step()).isTrue();
    DatabaseHandle handle = db.catalogue.open(db.name);
    RevisionId winner = db.winner("d3").leaf();

    faulty.lose(
        it ->
            it.method().equals("clear")
                && it.isBelow(DatabaseSubspace.DERIVED_ROWS.key(handle.prefix()).toBytes()));
    db.put("d3", winner, "{\"a\":\"moved\",\"ch\":\"moved\"}");
    faulty.lose(it -> false);
    assertThat(findings()).isNotEmpty().allMatch(it -> it.contains("d3"));
    kept.remove(db);
  }
}
