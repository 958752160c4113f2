package lectus.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.json.JsonValue;
import lectus.json.TupleWriter;
import lectus.metrics.Metrics;
import lectus.metrics.Metrics.ExpositionFormat;
import lectus.revision.RevisionId;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.testing.TestStores;
import lectus.view.BuildTasks.OfRange;
import lectus.view.BuildTasks.OfShard;
import lectus.view.BuildTasks.Task;
import lectus.view.ViewsSubspace.Phase;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.Repaired;
import lectus.view.ViewsSubspace.State;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Steps of a view's build that meet others at the worst moment; and what faulty ones would leave
 * behind, which a comparison with a fresh build or the auditor finds.
 */
final class ViewTasksTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static Scripts scripts;

  private static final String DESIGN =
      "{\"views\":{\"v\":{\"map\":\"function(doc){emit(doc.n,doc.n)}\",\"reduce\":\"_sum\"}}}";

  private final FaultyStore faulty = new FaultyStore(stores.fresh(), false);
  private final TestDatabase database = TestDatabase.create(faulty.store());
  private final FreshBuild fresh = new FreshBuild(database, scripts, DESIGN);
  private final FreshBuild.Reader reader = new FreshBuild.Reader(database);

  @BeforeAll
  static void begin() {
    scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 60, 64 << 20));
  }

  @AfterAll
  static void end() {
    scripts.close();
  }

  private List<RevisionId> write(int from, int to) {
    return database
        .write(
            IntStream.range(from, to)
                .mapToObj(i -> TestDatabase.edit("d" + i, null, "{\"n\":" + i + "}"))
                .toList())
        .stream()
        .map(TestDatabase::written)
        .toList();
  }

  /** Reads the database, and holds the second who wants to write, once it is told so. */
  private final class Gate implements IndexStep.DatabaseReader {
    private final boolean isBehindReadVersion;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final AtomicInteger passing = new AtomicInteger();
    private volatile CountDownLatch opened = new CountDownLatch(0);

    Gate(boolean behindReadVersion) {
      this.isBehindReadVersion = behindReadVersion;
    }

    void holdSecond() {
      passing.set(1);
      opened = new CountDownLatch(1);
    }

    void open() {
      opened.countDown();
    }

    @Override
    public DatabaseHandle of(ReadTransaction tx) {
      return reader.of(tx);
    }

    @Override
    public DatabaseHandle forWrites(Transaction tx) {
      if (isBehindReadVersion) {
        Awaiting.await(tx.getReadVersion());
      }
      if (opened.getCount() > 0 && passing.getAndDecrement() == 0) {
        reached.countDown();
        uninterrupted(opened);
      }
      return reader.forWrites(tx);
    }
  }

  private static void uninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Goes through the phases of a build up to one of them. */
  private static State until(IndexStep step, Phase phase) {
    for (int i = 0; i < 100; i++) {
      State state = step.run(false).state().orElseThrow();
      if (state.phase() == phase) {
        return state;
      }
    }
    throw new AssertionError("There is no phase " + phase);
  }

  private static void finish(IndexStep step) {
    while (!step.run(true).isCurrent()) {
      // goes on
    }
  }

  /** Begins a step that waits at the gate before it writes a page of a task. */
  private static Future<?> held(IndexStep sleeper, Gate gate, ExecutorService thread)
      throws InterruptedException {
    return held(sleeper, gate, thread, Phase.TASKS);
  }

  private static Future<?> held(IndexStep sleeper, Gate gate, ExecutorService thread, Phase phase)
      throws InterruptedException {
    until(sleeper, phase);
    gate.holdSecond();
    Future<?> slept = thread.submit(() -> sleeper.run(false));
    gate.reached.await();
    return slept;
  }

  /** Returns the states of indexes and of their tasks. */
  private List<KeyValue> states() {
    return database.read(
        (tx, db) ->
            Awaiting.await(tx.getRange(DatabaseSubspace.VIEWS.range(db.prefix())).asList()));
  }

  /**
   * A worker sleeps between what it has read and what it writes. Another one takes its task over,
   * and finds a document as it became meanwhile. Then the first one commits nothing, whether it
   * slept before its transaction had a read version or afterwards.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_worker_whose_task_was_taken_over_commits_nothing(boolean isBehindReadVersion)
      throws Exception {
    List<RevisionId> written = write(0, 900);
    Registered index = fresh.register();
    Gate gate = new Gate(isBehindReadVersion);
    IndexStep sleeper = fresh.step(index, gate);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    Future<?> slept = held(sleeper, gate, sleeping);
    database.put("d7", written.get(7), "{\"n\":1000}");
    // Its claim lapses.
    database.transactions.<Void>run(
        tx -> {
          DatabaseHandle db = reader.forWrites(tx);
          ShardId shard = db.topology().current().shards().iterator().next();
          new BuildTasks(db, index.number())
              .put(tx, Task.open(new OfShard(shard, Optional.empty())));
          return null;
        });
    IndexStep other = fresh.step(index, reader);
    other.run(false);
    Map<String, String> rows = fresh.rows(index.number());
    List<KeyValue> states = states();
    assertThat(rows).isNotEmpty();

    gate.open();
    slept.get();
    assertThat(fresh.rows(index.number())).isEqualTo(rows);
    assertThat(states()).isEqualTo(states);
    sleeping.shutdown();
    finish(other);
    fresh.assertEqual(false);
  }

  /** A document moves from one generation to the next, so two tasks would hold it. */
  @Test
  void no_task_begins_while_one_of_an_earlier_generation_is_open() throws Exception {
    List<RevisionId> written = write(0, 600);
    database.catalogue.reshard(database.name, 2);
    write(600, 900);
    Registered index = fresh.register();
    Gate gate = new Gate(false);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    IndexStep sleeper = fresh.step(index, gate);
    Future<?> slept = held(sleeper, gate, sleeping);
    database.put("d7", written.get(7), "{\"n\":1000}");
    IndexStep other = fresh.step(index, reader);
    assertThat(other.run(false).isIdle()).isTrue();
    assertThat(fresh.rows(index.number())).isEmpty();

    gate.open();
    slept.get();
    sleeping.shutdown();
    assertThat(other.run(false).isIdle()).isFalse();
    assertThat(fresh.rows(index.number())).isNotEmpty();
    finish(other);
    fresh.assertEqual(false);
  }

  /** The task goes on behind the purge, so no step looks at it again by its sequence. */
  @Test
  void a_document_that_is_purged_before_a_task_writes_its_rows_has_none_at_the_end()
      throws Exception {
    List<RevisionId> written = write(0, IndexStep.DOCUMENTS_OF_BUILD + 100);
    Registered index = fresh.register();
    Gate gate = new Gate(false);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    IndexStep sleeper = fresh.step(index, gate);
    Future<?> slept = held(sleeper, gate, sleeping);
    database.write(Purging.of("d7", written.get(7)));
    gate.open();
    slept.get();
    sleeping.shutdown();
    finish(sleeper);
    fresh.assertEqual(false);
  }

  @Test
  void a_task_whose_holder_fails_is_taken_over_at_once() {
    write(0, 900);
    Registered index = fresh.register();
    IndexStep failing = fresh.step(index, reader);
    until(failing, Phase.TASKS);
    // It claims the task, but its page is lost.
    faulty.plan(FaultyStore.Fault.NONE, FaultyStore.Fault.IO_ERROR);
    assertThatThrownBy(() -> failing.run(false)).isInstanceOf(FDBException.class);
    IndexStep other = fresh.step(index, reader);
    assertThat(other.run(false).isIdle()).isFalse();
    finish(other);
    fresh.assertEqual(false);
  }

  /** One shard's task ends, then the shard gets entries, then the other's ends. */
  @Test
  void the_final_snapshot_has_what_came_to_a_shard_behind_its_task() {
    database.catalogue.reshard(database.name, 2);
    List<RevisionId> written = write(0, 900);
    Registered index = fresh.register();
    IndexStep step = fresh.step(index, reader);
    until(step, Phase.TASKS);
    step.run(false);
    for (int i = 0; i < 20; i++) {
      database.put("d" + i, written.get(i), "{\"n\":" + (1_000 + i) + "}");
    }
    finish(step);
    fresh.assertEqual(false);
  }

  private static final String MANY_ROWS =
      "{\"views\":{\"v\":{\"map\":\"function(doc){for(var i=0;i<100;i++)emit([doc.n%7,i],i)}\","
          + "\"reduce\":\"_sum\"},\"w\":{\"map\":\"function(doc){emit(doc.n,null)}\"}}}";

  /** Some 45 000 rows, of which about eleven are marked. */
  private static final int DOCUMENTS_OF_RANGES = 450;

  /** Which rows begin nodes is a matter of chance; with this salt enough of them are marked. */
  private static final long SALT = 1;

  private List<Task> tasks(Registered index) {
    return database.read((tx, db) -> new BuildTasks(db, index.number()).all(tx));
  }

  /** As a server of 0.2.0 left it, which made one node after the other. */
  private void repairing(Registered index, State state, Repaired at) {
    database.transactions.<Void>run(
        tx -> {
          new ViewsSubspace(reader.forWrites(tx))
              .write(tx, index.number(), new State(Phase.REPAIR, state.upTo(), Optional.of(at)));
          return null;
        });
  }

  /** An index whose nodes were made step by step, and whose nodes are to be made anew. */
  private Registered toBeRepaired(FreshBuild of) {
    write(0, DOCUMENTS_OF_RANGES);
    Registered index = of.register(SALT);
    finish(of.step(index, reader));
    byte[] place = database.read((tx, db) -> place(tx, db, index));
    State state = of.step(index, reader).run(true).state().orElseThrow();
    repairing(index, state, new Repaired(0, 1, place));
    return index;
  }

  /** Returns the place of some node. */
  private static byte[] place(ReadTransaction tx, DatabaseHandle db, Registered index) {
    ViewRows rows = new ViewRows(db, index.number(), false);
    List<KeyValue> nodes =
        Awaiting.await(
            tx.getRange(rows.range(0, 1, ViewTree.FIRST, Optional.empty()), 10).asList());
    return rows.placeOf(0, 1, nodes.get(9));
  }

  @Test
  void nodes_that_are_made_range_by_range_equal_those_that_steps_make() {
    FreshBuild many = new FreshBuild(database, scripts, MANY_ROWS);
    Registered index = toBeRepaired(many);
    Map<String, String> rows = many.rows(index.number());
    IndexStep one = many.step(index, reader);
    IndexStep other = many.step(index, reader);
    until(one, Phase.NODES);
    assertThat(tasks(index)).hasSizeGreaterThan(3);
    assertThat(many.rows(index.number())).hasSizeLessThan(rows.size());
    boolean isCurrent = false;
    while (!isCurrent) {
      isCurrent = one.run(true).isCurrent() | other.run(true).isCurrent();
    }
    assertThat(many.rows(index.number())).isEqualTo(rows);
    assertThat(tasks(index)).isEmpty();
  }

  /** Rows that begin nodes are marked as they are written. */
  @Test
  void a_new_index_is_divided_into_ranges_by_what_its_tasks_marked() {
    FreshBuild many = new FreshBuild(database, scripts, MANY_ROWS);
    write(0, 600);
    Registered index = many.register(SALT);
    IndexStep step = many.step(index, reader);
    until(step, Phase.NODES);
    assertThat(tasks(index)).hasSizeGreaterThan(3);
    finish(step);
  }

  @Test
  void a_worker_whose_range_was_taken_over_commits_nothing() throws Exception {
    write(0, 900);
    Registered index = fresh.register();
    Gate gate = new Gate(false);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    Future<?> slept = held(fresh.step(index, gate), gate, sleeping, Phase.NODES);
    Task task = tasks(index).get(0);
    database.transactions.<Void>run(
        tx -> {
          new BuildTasks(reader.forWrites(tx), index.number()).put(tx, task.givenBack());
          return null;
        });
    IndexStep other = fresh.step(index, reader);
    finish(other);
    database.put("more", "{\"n\":1000}");
    finish(other);
    Map<String, String> rows = fresh.rows(index.number());
    gate.open();
    slept.get();
    sleeping.shutdown();
    assertThat(fresh.rows(index.number())).isEqualTo(rows);
  }

  @Test
  void the_levels_above_wait_until_all_ranges_of_their_view_are_done() throws Exception {
    FreshBuild many = new FreshBuild(database, scripts, MANY_ROWS);
    Registered index = toBeRepaired(many);
    Gate gate = new Gate(false);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    IndexStep sleeper = many.step(index, gate);
    until(sleeper, Phase.NODES);
    gate.holdSecond();
    Future<?> slept = sleeping.submit(() -> sleeper.run(false));
    gate.reached.await();
    IndexStep other = many.step(index, reader);
    while (!other.run(true).isIdle()) {
      // goes on
    }
    List<Task> open = tasks(index).stream().filter(it -> !it.isDone()).toList();
    assertThat(open.size()).isBetween(1, 2);
    gate.open();
    slept.get();
    sleeping.shutdown();
    finish(other);
  }

  @Test
  void a_range_that_begins_within_a_node_is_found() {
    write(0, 900);
    Registered index = fresh.register();
    IndexStep step = fresh.step(index, reader);
    until(step, Phase.NODES);
    database.transactions.<Void>run(
        tx -> {
          DatabaseHandle db = reader.forWrites(tx);
          ViewRows rows = new ViewRows(db, index.number(), false);
          ViewTree tree = new ViewTree(rows, 0, index.salt(), Reducer.none());
          List<byte[]> places =
              IntStream.range(0, 900)
                  .mapToObj(i -> rows.place(EmittedKey.of(json("" + i), false), "d" + i, 0))
                  .toList();
          byte[] within =
              places.stream().skip(400).filter(it -> tree.levelOf(it) == 0).findFirst().get();
          new BuildTasks(db, index.number()).put(tx, Task.open(OfRange.of(0, within)));
          return null;
        });
    finish(step);
    assertDiffers(it -> it.contains("a node of level 1"));
  }

  /** As if the claims of two who perform one range were not told apart. */
  @Test
  void a_range_that_is_written_again_after_its_index_went_on_is_found() {
    write(0, 400);
    Registered index = fresh.register();
    IndexStep step = fresh.step(index, reader);
    finish(step);
    Range nodes =
        database.read(
            (tx, db) ->
                new ViewRows(db, index.number(), false)
                    .range(0, 1, ViewTree.FIRST, Optional.empty()));
    List<KeyValue> late = database.read((tx, db) -> Awaiting.await(tx.getRange(nodes).asList()));
    database.put("more", "{\"n\":7}");
    finish(step);
    database.transactions.<Void>run(
        tx -> {
          late.forEach(it -> tx.set(it.getKey(), it.getValue()));
          return null;
        });
    assertDiffers(it -> it.contains("a node of level"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Phase.class,
      names = {"TASKS", "NODES"})
  void a_task_is_given_back_when_its_server_stops_although_a_page_is_under_way(Phase phase)
      throws Exception {
    write(0, 900);
    Registered index = fresh.register();
    Gate gate = new Gate(false);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    IndexStep stopping = fresh.step(index, gate);
    Future<?> slept = held(stopping, gate, sleeping, phase);
    stopping.stop();
    IndexStep other = fresh.step(index, reader);
    assertThat(other.run(false).isIdle()).isFalse();
    List<KeyValue> states = states();
    gate.open();
    slept.get();
    sleeping.shutdown();
    assertThat(states()).isEqualTo(states);
    finish(other);
    fresh.assertEqual(false);
  }

  /** Both write at one sequence of the index, but one of them has read what was there before. */
  @Test
  void a_step_commits_nothing_if_a_document_was_mapped_again_meanwhile() throws Exception {
    write(0, 400);
    Registered index = fresh.register();
    IndexStep other = fresh.step(index, reader);
    finish(other);
    database.transactions.<Void>run(
        tx -> {
          new ViewRows(reader.forWrites(tx), index.number(), false)
              .putRefusal(tx, "d3", Optional.of(ViewRows.Refusal.forNow("It took too long.")));
          return null;
        });
    database.put("more", "{\"n\":7}");
    Gate gate = new Gate(false);
    gate.passing.set(0);
    gate.opened = new CountDownLatch(1);
    ExecutorService sleeping = Executors.newSingleThreadExecutor();
    Future<IndexStep.Done> slept = sleeping.submit(() -> fresh.step(index, gate).run(true));
    gate.reached.await();
    assertThat(other.mapAgain(true)).isTrue();
    assertThat(other.mapAgain(false)).isFalse();
    gate.open();
    assertThat(slept.get().isCurrent()).isFalse();
    sleeping.shutdown();
    finish(other);
    fresh.assertEqual(true);
  }

  private long conflicts() {
    Metrics metrics = new Metrics();
    metrics.add(database.store);
    String text = metrics.text(ExpositionFormat.of("")).toCompletableFuture().join();
    return text.lines()
        .filter(it -> it.startsWith("lectus_transaction_conflicts"))
        .mapToLong(it -> (long) Double.parseDouble(it.substring(it.lastIndexOf(' '))))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void those_who_perform_tasks_in_one_server_do_not_conflict_with_each_other() throws Exception {
    database.catalogue.reshard(database.name, 4);
    write(0, 900);
    FreshBuild many = new FreshBuild(database, scripts, MANY_ROWS);
    Registered index = many.register();
    IndexStep leader = many.step(index, reader);
    List<IndexStep> helpers = List.of(many.step(index, reader), many.step(index, reader));
    for (Phase phase : List.of(Phase.TASKS, Phase.NODES)) {
      until(leader, phase);
      ExecutorService threads = Executors.newFixedThreadPool(helpers.size());
      List<Future<?>> helping = new ArrayList<>();
      for (IndexStep helper : helpers) {
        helping.add(threads.submit(() -> help(helper, phase)));
      }
      while (leader.help(phase).state().orElseThrow().phase() == phase) {
        // goes on
      }
      for (Future<?> each : helping) {
        each.get();
      }
      threads.shutdown();
    }
    assertThat(conflicts()).isZero();
    finish(leader);
  }

  private static void help(IndexStep helper, Phase phase) {
    while (helper.help(phase).state().orElseThrow().phase() == phase) {
      // goes on
    }
  }

  @Test
  void a_build_clears_no_refusals_where_there_are_none() {
    byte[] refusals =
        database.read((tx, db) -> new TupleWriter(16).raw(ViewRows.of(db, 1)).integer(1).toBytes());
    AtomicInteger clears = new AtomicInteger();
    faulty.lose(
        it -> {
          clears.addAndGet(it.method().equals("clear") && it.isBelow(refusals) ? 1 : 0);
          return false;
        });
    List<RevisionId> written = write(0, 900);
    Registered index = fresh.register();
    assertThat(index.number()).isEqualTo(1);
    IndexStep step = fresh.step(index, reader);
    finish(step);
    database.put("d7", written.get(7), "{\"n\":1000}");
    finish(step);
    assertThat(clears).hasValue(0);
    database.transactions.<Void>run(
        tx -> {
          new ViewRows(reader.forWrites(tx), index.number(), false)
              .putRefusal(tx, "d8", Optional.of(ViewRows.Refusal.of("It took too much.")));
          return null;
        });
    database.put("d8", written.get(8), "{\"n\":1001}");
    finish(step);
    assertThat(clears).hasValue(1);
  }

  /** Something that a step does not do. */
  enum Lost {
    OLD_ROW("has a row that the document", "clear", 0),
    NODE("a node of level 1", "set", 1);

    private final String finding;
    private final String method;
    private final int level;

    Lost(String finding, String method, int level) {
      this.finding = finding;
      this.method = method;
      this.level = level;
    }
  }

  private List<String> findings() {
    return new StoreAudit(database.store, AuditListener.SILENT)
        .run().findings().stream().map(Object::toString).toList();
  }

  private void assertDiffers(Predicate<String> finding) {
    assertThat(findings()).anyMatch(finding);
    assertThatThrownBy(() -> fresh.assertEqual(true)).isInstanceOf(AssertionError.class);
    SoundStore.repair(database.store);
  }

  @ParameterizedTest
  @EnumSource(Lost.class)
  void what_a_step_leaves_undone_is_found(Lost lost) {
    List<RevisionId> written = write(0, 400);
    Registered index = fresh.register();
    IndexStep step = fresh.step(index, reader);
    finish(step);
    byte[] prefix =
        database.read(
            (tx, db) -> new ViewRows(db, index.number(), false).key(0, lost.level, ViewTree.FIRST));
    faulty.lose(it -> it.method().equals(lost.method) && it.isBelow(prefix));
    database.put("d7", written.get(7), "{\"n\":1000}");
    finish(step);
    faulty.lose(it -> false);
    assertDiffers(it -> it.contains(lost.finding));
  }

  @Test
  void a_purge_that_tells_no_follower_is_found() {
    List<RevisionId> written = write(0, 400);
    IndexStep step = fresh.step(fresh.register(), reader);
    finish(step);
    byte[] prefix = database.read((tx, db) -> DatabaseSubspace.GONE.key(db.prefix()).toBytes());
    faulty.lose(it -> it.method().equals("mutate") && it.isBelow(prefix));
    database.write(Purging.of("d7", written.get(7)));
    faulty.lose(it -> false);
    database.put("other", "{\"n\":1}");
    finish(step);
    assertDiffers(it -> it.contains("has rows of the document d7, which is gone"));
  }

  /** As if both had been held at once: the earlier one did not see the later one's row. */
  @Test
  void a_document_in_two_tasks_is_found() {
    write(0, 900);
    Registered index = fresh.register();
    IndexStep step = fresh.step(index, reader);
    until(step, Phase.ROWS);
    database.transactions.<Void>run(
        tx -> {
          ViewRows rows = new ViewRows(reader.forWrites(tx), index.number(), false);
          byte[] place = rows.place(EmittedKey.of(json("1000"), false), "d7", 0);
          byte[] row = ViewRows.encode(new ViewRows.Emitted(utf8("1000"), utf8("1000")));
          rows.put(tx, 0, 0, place, Optional.of(row));
          return null;
        });
    finish(step);
    assertDiffers(it -> it.contains("has a row that the document d7 does not have"));
  }

  private static byte[] utf8(String text) {
    return TestDatabase.utf8(text);
  }

  private static JsonValue json(String text) {
    return JsonValue.parse(utf8(text));
  }

  /** A task's end is said to be later than it is, so nobody comes to what is between. */
  @Test
  void a_shard_that_the_final_snapshot_did_not_see_is_found() {
    database.catalogue.reshard(database.name, 2);
    List<RevisionId> written = write(0, 900);
    Registered index = fresh.register();
    IndexStep step = fresh.step(index, reader);
    until(step, Phase.TASKS);
    step.run(false);
    step.run(false);
    for (int i = 0; i < 20; i++) {
      database.put("d" + i, written.get(i), "{\"n\":" + (1_000 + i) + "}");
    }
    database.transactions.<Void>run(
        tx -> {
          DatabaseHandle db = reader.forWrites(tx);
          Sequence now = IndexStep.readVersion(tx, db);
          for (Generation generation : db.topology().generations()) {
            for (ShardId shard : generation.shards()) {
              OfShard work = new OfShard(shard, Optional.empty());
              new BuildTasks(db, index.number())
                  .put(tx, Task.open(work).done(new OfShard(shard, Optional.of(now))));
            }
          }
          return null;
        });
    finish(step);
    assertThatThrownBy(() -> fresh.assertEqual(true)).isInstanceOf(AssertionError.class);
  }
}
