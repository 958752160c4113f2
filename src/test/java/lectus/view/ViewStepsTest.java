package lectus.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Transaction;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseRequest;
import lectus.document.PagedBody;
import lectus.document.edit.InteractiveEdit;
import lectus.document.read.DocumentCache;
import lectus.document.read.DocumentReader;
import lectus.document.testing.Answers;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.metrics.Tasks.TaskState;
import lectus.revision.RevisionId;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.Awaiting;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Steps and answers of views in trouble: slow maps, large rows, indexes that change meanwhile. */
final class ViewStepsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static Scripts scripts;

  private final TestDatabase database = TestDatabase.create(stores.fresh());
  private final DatabaseRequest asked = DatabaseRequest.byServer(database.name);
  @AutoClose private final Views views = views(() -> false);

  private Views views(BooleanSupplier requestsWait) {
    return new Views(
        database.catalogue,
        database.transactions,
        new DocumentReader(database.catalogue, database.transactions, new DocumentCache(0)),
        scripts,
        database.store.tasks(),
        requestsWait,
        32 << 20);
  }

  @BeforeAll
  static void begin() {
    scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 10, 64 << 20));
  }

  @AfterAll
  static void end() {
    scripts.close();
  }

  private static String design(String map) {
    return "{\"views\":{\"v\":{\"map\":\"function(doc){" + map + "}\",\"reduce\":\"_count\"}}}";
  }

  private Views.Prepared prepared(Map<String, String> parameters) {
    return views.prepare(asked, "d", "v", new ViewArguments(parameters, Optional.empty(), false));
  }

  private String query(Map<String, String> parameters) {
    Views.Prepared prepared = prepared(parameters);
    views.ready(prepared).join();
    return Answers.whole(views.answer(prepared));
  }

  private static List<InteractiveEdit> documents(int count, String json) {
    return IntStream.range(0, count)
        .mapToObj(i -> TestDatabase.edit("doc" + i, null, json))
        .toList();
  }

  private long version() {
    return database.transactions.read(tx -> Awaiting.await(tx.getReadVersion()));
  }

  private boolean isForgotten(long version) {
    try (Transaction tx = database.store.database().createTransaction()) {
      tx.setReadVersion(version);
      tx.get(new byte[] {1}).join();
      return false;
    } catch (RuntimeException e) {
      return e.getCause() instanceof FDBException;
    }
  }

  @Test
  void an_answer_fails_if_its_index_is_removed_before_its_last_part() {
    RevisionId design = database.put("_design/d", design("emit(doc._id,1)"));
    database.write(documents(2_500, "{}"));
    Views.Prepared prepared = prepared(Map.of("reduce", "false"));
    views.ready(prepared).join();
    PagedBody answer = views.answer(prepared);
    JsonBuffer out = new JsonBuffer(1 << 16);
    assertThat(answer.appendNext(out)).isTrue();
    long version = version();
    database.delete("_design/d", design);
    assertThat(views.cleanUp(asked)).isEqualTo(1);
    Await.until("the version is forgotten", () -> isForgotten(version));
    assertThatThrownBy(() -> Answers.whole(answer)).isInstanceOf(LectusException.class);
  }

  @Test
  void a_document_whose_rows_are_too_large_for_a_transaction_keeps_no_other_from_the_view() {
    database.put(
        "_design/d",
        design(
            "for(var i=0;i<(doc.n||0);i++){var k=[doc.s,i];while(k.length<420)k.push(7);"
                + "emit(k,1)}if(!doc.n)emit(doc._id,1)"));
    RevisionId first = database.put("large", "{\"n\":450,\"s\":1}");
    assertThat(query(Map.of())).contains("\"value\":450");
    database.put("large", first, "{\"n\":450,\"s\":2}");
    database.put("other", "{}");
    assertThat(query(Map.of("key", "\"other\""))).contains("\"value\":1");
  }

  @Test
  void a_document_that_emits_what_is_nested_too_deeply_keeps_no_other_from_the_view() {
    database.put(
        "_design/d",
        design("var a=1;for(var i=0;i<(doc.depth||0);i++){a=[a]}emit(doc._id,doc.depth?a:1)"));
    database.put("deep", "{\"depth\":600}");
    database.put("deeper", "{\"depth\":5000}");
    database.put("less", "{\"depth\":400}");
    database.put("other", "{}");
    assertThat(query(Map.of())).contains("\"value\":2");
    assertThat(views.info(asked, "d").toString()).contains("\"id\":\"deep\"", "\"id\":\"deeper\"");
  }

  @Test
  void a_query_is_answered_while_others_go_on_writing() throws InterruptedException {
    database.put("_design/d", design("emit(doc._id,1)"));
    AtomicBoolean isAnswered = new AtomicBoolean();
    Thread writer =
        new Thread(
            () -> {
              for (int from = 0; !isAnswered.get(); from += 1_000) {
                int first = from;
                database.write(
                    IntStream.range(0, 1_000)
                        .mapToObj(i -> TestDatabase.edit("doc" + (first + i), null, "{}"))
                        .toList());
              }
            });
    writer.start();
    Await.until("there are documents", () -> database.statistics().documents() > 3_000);
    try {
      assertThat(query(Map.of())).contains("\"value\":");
    } finally {
      isAnswered.set(true);
      writer.join();
    }
  }

  @Test
  void many_keys_are_read_one_after_the_other() {
    database.put("_design/d", design("emit(doc.n||0,1)"));
    database.put("a", "{\"n\":7}");
    String keys =
        IntStream.range(0, 60_000).mapToObj(i -> "" + i % 10).collect(Collectors.joining(","));
    String answer = query(Map.of("reduce", "false", "keys", "[" + keys + "]"));
    assertThat(answer.split("\"id\":\"a\"", -1)).hasSize(6_001);
  }

  @Test
  void skip_passes_over_many_keys_in_many_parts() {
    database.put("_design/d", design("emit(doc.n||0,1)"));
    database.put("a", "{\"n\":7}");
    String keys =
        IntStream.range(0, 100_000).mapToObj(i -> "" + i % 10).collect(Collectors.joining(","));
    Map<String, String> asked = Map.of("reduce", "false", "keys", "[" + keys + "]", "skip", "9990");
    Views.Prepared prepared = prepared(asked);
    views.ready(prepared).join();
    PagedBody answer = views.answer(prepared);
    int parts = 1;
    JsonBuffer out = new JsonBuffer(64);
    while (answer.appendNext(out)) {
      parts++;
    }
    assertThat(parts).isGreaterThan(100);
    assertThat(out.toString().split("\"id\":\"a\"", -1)).hasSize(11);
    assertThat(out.toString()).startsWith("{\"total_rows\":1,\"offset\":1,");
  }

  @Test
  void a_view_in_a_language_that_nobody_speaks_fails_before_there_is_a_document() {
    database.put(
        "_design/d", "{\"language\":\"erlang\",\"views\":{\"v\":{\"map\":\"fun(D) -> 1 end.\"}}}");
    assertThatThrownBy(() -> prepared(Map.of()))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("the language erlang is not supported");
  }

  @Test
  void those_who_wait_are_told_that_the_server_stops() {
    database.put("_design/d", design("while(true);"));
    database.put("a", "{}");
    Views own = views(() -> false);
    Views.Prepared prepared =
        own.prepare(asked, "d", "v", new ViewArguments(Map.of(), Optional.empty(), false));
    CompletableFuture<Void> waiting = own.ready(prepared);
    own.close();
    for (CompletableFuture<Void> each : List.of(waiting, own.ready(prepared))) {
      assertThat(each).isCompletedExceptionally();
      assertThatThrownBy(each::join).hasMessageContaining("The server stops.");
    }
  }

  /** It pauses, for as long as its pages take, but not for ever. */
  @Test
  void a_build_comes_to_its_end_although_requests_wait_all_the_time() {
    database.write(documents(600, "{}"));
    database.put("_design/d", design("emit(doc._id,1)"));
    AtomicInteger times = new AtomicInteger();
    Views busy = views(() -> times.incrementAndGet() > 0);
    Views.Prepared prepared = prepared(Map.of());
    busy.ready(prepared).join();
    busy.close();
    assertThat(times.get()).isPositive();
    assertThat(query(Map.of())).contains("\"value\":600");
  }

  @Test
  void a_build_that_is_cut_off_gives_its_tasks_back() {
    database.write(documents(600, "{}"));
    database.put("_design/d", design("for(var end=Date.now()+5;Date.now()<end;);emit(doc._id,1)"));
    Views own = views(() -> false);
    own.ready(own.prepare(asked, "d", "v", new ViewArguments(Map.of(), Optional.empty(), false)));
    Await.until("a task is performed", this::isPerformed);
    own.close();
    Await.until("it is given back", () -> !isPerformed());
  }

  private boolean isPerformed() {
    return database.read((tx, db) -> new BuildTasks(db, 1).arePerformed(tx));
  }

  @Test
  void a_document_that_was_refused_and_is_deleted_is_not_named_any_more() {
    database.put("_design/d", design("for(var i=0;i<doc.n;i++)emit(i)"));
    RevisionId refused = database.put("a", "{\"n\":" + (EmittedRows.MAX_EMITTED + 1) + "}");
    query(Map.of());
    assertThat(views.info(asked, "d").toString()).contains("refused");
    database.delete("a", refused);
    query(Map.of());
    assertThat(views.info(asked, "d").toString()).doesNotContain("refused");
  }

  @Test
  void a_build_is_shown_with_what_it_has_to_do() {
    database.write(documents(600, "{}"));
    database.put("_design/d", design("for(var end=Date.now()+5;Date.now()<end;);emit(doc._id,1)"));
    var ready = views.ready(prepared(Map.of()));
    Await.until(
        "some is done",
        () -> database.store.tasks().running().stream().anyMatch(it -> it.done() > 0));
    TaskState task = database.store.tasks().running().get(0);
    assertThat(task.type()).isEqualTo("indexer");
    assertThat(task.details()).containsEntry("design_document", "_design/d");
    assertThat(task.total()).hasValue(601);
    ready.join();
  }

  @Test
  void slow_maps_are_written_before_they_have_come_to_the_end() {
    database.write(documents(250, "{}"));
    database.put(
        "_design/d", design("var end=Date.now()+20;while(Date.now()<end){}emit(doc._id,1)"));
    Views.Prepared prepared = prepared(Map.of());
    var ready = views.ready(prepared);
    Set<String> seen = new HashSet<>();
    while (!ready.isDone()) {
      seen.add(views.info(asked, "d").toString().replaceAll(".*\"update_seq\":\"([^\"]*).*", "$1"));
      LockSupport.parkNanos(10_000_000);
    }
    ready.join();
    assertThat(seen.size()).isGreaterThan(2);
    assertThat(query(Map.of())).contains("\"value\":250");
  }
}
