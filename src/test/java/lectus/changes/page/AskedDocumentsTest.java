package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.http.limits.MemoryAccount;
import lectus.script.Call;
import lectus.script.Call.Program;
import lectus.script.Kind;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pages whose documents a function is asked about, one by one. */
final class AskedDocumentsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final Scripts SCRIPTS =
      new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 60, 64 << 20));

  private static final long MEMORY = 2 << 20;

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);
  private final MemoryAccount memory = new MemoryAccount(MEMORY, "full");

  @AfterAll
  static void close() {
    SCRIPTS.close();
  }

  private LiveSource<FeedPosition> filteredBy(String function) {
    return filteredBy(function, false);
  }

  private LiveSource<FeedPosition> filteredBy(String function, boolean allLeaves) {
    byte[] design = ("{\"filters\":{\"f\":\"" + function + "\"}}").getBytes(StandardCharsets.UTF_8);
    FunctionFilter filter =
        new FunctionFilter(
            SCRIPTS,
            memory,
            "db",
            new Program(function, "db/_design/d", design),
            new Call(
                Kind.FILTER,
                List.of("filters", "f"),
                List.of("{}".getBytes(StandardCharsets.UTF_8))),
            "");
    return db.changes
        .live(
            db.name,
            new FeedOptions(allLeaves, false, false, new FeedFilter.None(), 1).filteredBy(filter),
            FeedPosition.since("0"),
            new ToldByHand())
        .source();
  }

  private static LivePage<FeedPosition> page(LiveSource<FeedPosition> source, FeedPosition from)
      throws Exception {
    return source.nextPage(from, ChangesReader.NO_LIMIT).get(30, TimeUnit.SECONDS);
  }

  @Test
  void a_page_waits_until_others_hold_less() throws Exception {
    db.put("a", null, "{\"text\":\"" + "x".repeat(200_000) + "\"}");
    LiveSource<FeedPosition> source = filteredBy("function() { return true; }");

    memory.reserve(MEMORY, 0);
    assertThatThrownBy(() -> page(source, FeedPosition.BEGINNING))
        .isInstanceOf(AskedDocuments.TooBusy.class)
        .matches(LiveSource::passes);
    assertThat(memory.held()).isEqualTo(MEMORY);
    memory.release(MEMORY, MEMORY);
    assertThat(page(source, FeedPosition.BEGINNING).rows().size()).isEqualTo(1);
    assertThat(memory.held()).isZero();
  }

  @Test
  void a_page_that_nobody_wants_is_given_up() throws Exception {
    db.putAll("a", 100);
    CompletableFuture<LivePage<FeedPosition>> page =
        filteredBy("function() { while (true) {} }")
            .nextPage(FeedPosition.BEGINNING, ChangesReader.NO_LIMIT);
    assertThat(memory.held()).isPositive();
    page.cancel(false);
    assertThat(memory.held()).isZero();
  }

  /** Its end is where the function is after some time, and the next page goes on there. */
  @Test
  void a_slow_function_is_asked_in_pages() throws Exception {
    db.putAll("a", 4);
    LiveSource<FeedPosition> source =
        filteredBy(
            "function() { var end = Date.now() + 1500; while (Date.now() < end) {} return true; }");
    LivePage<FeedPosition> first = page(source, FeedPosition.BEGINNING);
    assertThat(first.reachedEnd()).isFalse();
    assertThat(first.rows().size()).isBetween(1, 3);
    assertThat(first.next()).isEqualTo(first.rows().at(first.rows().size() - 1));
    LivePage<FeedPosition> second = page(source, first.next());
    assertThat(second.rows().at(0)).isGreaterThan(first.next());
  }

  @Test
  void a_page_has_as_many_documents_as_fit() throws Exception {
    db.putAll("a", AskedDocuments.MOST + 50);
    LiveSource<FeedPosition> source = filteredBy("function() { return false; }");
    LivePage<FeedPosition> page = page(source, FeedPosition.BEGINNING);
    assertThat(page.rows().isEmpty()).isTrue();
    assertThat(page.reachedEnd()).isFalse();
    while (!page.reachedEnd()) {
      page = page(source, page.next());
    }

    for (String id : new String[] {"b", "c", "d"}) {
      db.put(id, null, "{\"text\":\"" + "x".repeat(700_000) + "\"}");
    }
    assertThat(page(source, page.next()).reachedEnd()).isFalse();
  }

  @Test
  void leaves_that_take_too_much_memory_end_the_feed() throws Exception {
    db.putAll("a", 1);
    String large = "{\"text\":\"" + "x".repeat(900_000) + "\"}";
    for (int leaf = 0; leaf < 20; leaf++) {
      db.replicate("b", "1-" + (char) ('a' + leaf), large);
    }
    LiveSource<FeedPosition> source = filteredBy("function() { return true; }", true);
    LivePage<FeedPosition> page = page(source, FeedPosition.BEGINNING);
    assertThat(page.rows().size()).isEqualTo(1);
    assertThat(page.end().orElseThrow().error().orElseThrow().reason()).contains("16 MB");
    assertThat(page(filteredBy("function() { return true; }"), page.next()).rows().size())
        .isEqualTo(1);
  }

  @Test
  void no_engine_is_no_verdict() {
    Scripts closed = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 2, 64 << 20));
    closed.close();
    db.putAll("a", 1);
    FunctionFilter filter =
        new FunctionFilter(
            closed,
            memory,
            "db",
            new Program("x", "db/_design/d", "{}".getBytes(StandardCharsets.UTF_8)),
            new Call(Kind.VIEW_FILTER, List.of("views", "v", "map"), List.of()),
            "");
    LiveSource<FeedPosition> source =
        db.changes
            .live(
                db.name,
                FeedOptions.DEFAULT.filteredBy(filter),
                FeedPosition.since("0"),
                new ToldByHand())
            .source();
    assertThatThrownBy(() -> page(source, FeedPosition.BEGINNING))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(AskedDocuments.TooBusy.class);
    assertThat(memory.held()).isZero();
  }
}
