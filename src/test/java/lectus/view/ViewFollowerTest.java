package lectus.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.GoneSubspace;
import lectus.config.ScriptKeys;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.document.read.DocumentCache;
import lectus.document.read.DocumentReader;
import lectus.document.testing.Answers;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.revision.RevisionId;
import lectus.script.Scripts;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.store.Awaiting;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import lectus.view.ViewFollower.Followed;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Views that are brought up to date, and removed, although nobody asks. */
final class ViewFollowerTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static Scripts scripts;

  private static final String DESIGN = design("doc.v");
  private static final String UP_TO_DATE = "\"updates_pending\":{\"minimum\":0,";

  private final TestDatabase database = TestDatabase.create(stores.fresh());
  @AutoClose private final Views views = views(scripts);
  private final DatabaseRequest asked = DatabaseRequest.byServer(database.name);
  private final AtomicLong nanos = new AtomicLong();

  private static String design(String key) {
    return "{\"views\":{\"m\":{\"map\":\"function(doc){emit(" + key + ")}\"}}}";
  }

  private Views views(Scripts scripts) {
    return new Views(
        database.catalogue,
        database.transactions,
        new DocumentReader(database.catalogue, database.transactions, new DocumentCache(0)),
        scripts,
        database.store.tasks(),
        () -> false,
        32 << 20);
  }

  @BeforeAll
  static void begin() {
    scripts = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 60, 64 << 20));
  }

  @AfterAll
  static void end() {
    scripts.close();
  }

  private ViewFollower follower(Followed followed) {
    return new ViewFollower(database.store, database.transactions, views, followed, nanos::get);
  }

  private String info() {
    return views.info(asked, "d").toString();
  }

  private int indexes() {
    return database.read((tx, db) -> new ViewsSubspace(db).all(tx).size());
  }

  private String query() {
    Views.Prepared prepared =
        views.prepare(asked, "d", "m", new ViewArguments(Map.of(), Optional.empty(), false));
    views.ready(prepared).join();
    return Answers.whole(views.answer(prepared));
  }

  private void after(Duration pause, ViewFollower follower) {
    nanos.addAndGet(pause.toNanos());
    while (follower.step()) {
      // goes on
    }
  }

  /** Some seconds later all is done that there is to do. */
  private void quiet(ViewFollower follower) {
    for (int i = 0; i < 5; i++) {
      after(Duration.ofSeconds(1), follower);
    }
  }

  private void until(BooleanSupplier condition, ViewFollower follower) throws Exception {
    while (!condition.getAsBoolean()) {
      after(Duration.ofSeconds(1), follower);
      Thread.sleep(5);
    }
  }

  @Test
  void all_views_are_up_to_date_before_anybody_asks() throws Exception {
    ViewFollower follower = follower(Followed.ALL);
    database.put("a", "{\"v\":1}");
    database.put("_design/d", DESIGN);
    until(() -> info().contains(UP_TO_DATE) && indexes() == 1, follower);
    database.put("b", "{\"v\":2}");
    assertThat(info()).doesNotContain(UP_TO_DATE);
    until(() -> info().contains(UP_TO_DATE), follower);
    assertThat(query()).contains("\"total_rows\":2,");
  }

  @Test
  void a_server_follows_without_being_told_to() {
    try (LectusServer server =
        LectusServer.start(
            stores.fresh(), new TestSettings().with(ScriptKeys.VIEWS_FOLLOW, "all"))) {
      server.put("/db", "");
      server.put("/db/a", "{\"v\":1}");
      server.put("/db/_design/d", DESIGN);
      Await.until(
          "the view has been built",
          () -> {
            String info = server.get("/db/_design/d/_info").body();
            return info.contains(UP_TO_DATE) && !info.contains("\"update_seq\":\"0\"");
          });
    }
  }

  @Test
  void used_views_are_those_that_a_query_has_asked_for() throws Exception {
    ViewFollower follower = follower(Followed.USED);
    database.put("_design/d", DESIGN);
    quiet(follower);
    assertThat(indexes()).isZero();
    query();
    database.put("a", "{\"v\":1}");
    until(() -> info().contains(UP_TO_DATE), follower);
  }

  @Test
  void none_is_brought_up_to_date() {
    ViewFollower follower = follower(Followed.NONE);
    database.put("_design/d", DESIGN);
    query();
    database.put("a", "{\"v\":1}");
    quiet(follower);
    assertThat(info()).doesNotContain(UP_TO_DATE);
  }

  @Test
  void another_server_follows_once_the_lease_is_given_back() throws Exception {
    ViewFollower first = follower(Followed.ALL);
    ViewFollower second = follower(Followed.ALL);
    database.put("_design/d", DESIGN);
    until(() -> indexes() == 1 && info().contains(UP_TO_DATE), first);
    database.put("a", "{\"v\":1}");
    quiet(second);
    assertThat(info()).doesNotContain(UP_TO_DATE);
    first.giveBack();
    until(() -> info().contains(UP_TO_DATE), second);
  }

  @Test
  void an_index_that_stays_unused_is_removed() {
    ViewFollower follower = follower(Followed.NONE);
    RevisionId design = database.put("_design/d", DESIGN);
    database.put("a", "{\"v\":1}");
    query();
    design = database.put("_design/d", design, design("1"));
    query();
    quiet(follower);
    assertThat(indexes()).isEqualTo(2);

    // It changes back, so the other one is not used.
    after(ViewFollower.GRACE.minusMinutes(1), follower);
    database.put("_design/d", design, DESIGN);
    after(Duration.ofMinutes(2), follower);
    assertThat(indexes()).isEqualTo(2);
    after(ViewFollower.GRACE, follower);
    assertThat(indexes()).isEqualTo(1);
    assertThat(query()).contains("\"key\":1");
  }

  /** However often its database is looked at meanwhile, and also once nothing happens any more. */
  @Test
  void an_unused_index_of_a_busy_database_is_removed() {
    ViewFollower follower = follower(Followed.NONE);
    TestDatabase other = TestDatabase.create(database.store, "other");
    RevisionId design = database.put("_design/d", DESIGN);
    query();
    database.put("_design/d", design, design("1"));
    for (int minute = 0; minute < ViewFollower.GRACE.toMinutes(); minute++) {
      other.put("a" + minute, "{}");
      database.put("a" + minute, "{}");
      after(Duration.ofMinutes(1), follower);
    }
    assertThat(indexes()).isEqualTo(1);
    after(Duration.ofMinutes(1), follower);
    assertThat(indexes()).isZero();
  }

  /** Whoever gives up is not kept until an update ends that takes long. */
  @Test
  void an_update_goes_on_without_those_who_gave_up() {
    try (Scripts slow = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 100, 64 << 20));
        Views own = views(slow)) {
      database.put("_design/d", "{\"views\":{\"m\":{\"map\":\"function(doc){while(true);}\"}}}");
      database.put("a", "{}");
      Views.Prepared prepared =
          own.prepare(asked, "d", "m", new ViewArguments(Map.of(), Optional.empty(), false));
      CompletableFuture<Void> patient = own.ready(prepared);
      CompletableFuture<Void> hasty = own.ready(prepared);
      assertThat(own.info(asked, "d").toString())
          .contains("\"waiting_clients\":2,\"updater_running\":true");
      hasty.completeExceptionally(new TimeoutException());
      assertThat(own.info(asked, "d").toString())
          .contains("\"waiting_clients\":1,\"updater_running\":true");
      patient.completeExceptionally(new TimeoutException());
      assertThat(own.info(asked, "d").toString())
          .contains("\"waiting_clients\":0,\"updater_running\":true");
    }
  }

  private ViewFollower follower(Views of) {
    return new ViewFollower(database.store, database.transactions, of, Followed.ALL, nanos::get);
  }

  /** On a busy machine a map may take too long that is not to blame for it. */
  @Test
  void a_document_whose_map_took_too_long_is_mapped_again_some_times() throws Exception {
    try (Scripts hasty = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 1, 64 << 20));
        Scripts patient = new Scripts(new ScriptSettings(EngineChoice.AUTO, 1, 64, 4, 64 << 20));
        Views ofHasty = views(hasty);
        Views ofPatient = views(patient)) {
      database.put(
          "_design/d",
          "{\"views\":{\"m\":{\"map\":\"function(doc){for(var end=Date.now()+1200;"
              + "doc.v||Date.now()<end;);emit(doc._id)}\"}}}");
      database.put("for-now", "{\"v\":0}");
      database.put("for-ever", "{\"v\":1}");
      ViewFollower first = follower(ofHasty);
      until(() -> info().contains(UP_TO_DATE) && indexes() == 1, first);
      assertThat(info()).contains("\"id\":\"for-ever\"", "\"id\":\"for-now\"");
      first.giveBack();
      ViewFollower second = follower(ofPatient);
      until(() -> !info().contains("\"id\":\"for-now\""), second);
      assertThat(info()).contains("\"id\":\"for-ever\"").contains(UP_TO_DATE);
      assertThat(query()).contains("\"total_rows\":1,").contains("\"id\":\"for-now\"");

      second.giveBack();
      ViewFollower third = follower(ofHasty);
      until(() -> triesLeft() == 0, third);
      database.put("other", "{\"v\":0}");
      until(() -> info().contains(UP_TO_DATE), third);
      assertThat(info()).contains("\"id\":\"for-ever\"");
    }
  }

  private int triesLeft() {
    return database.read(
        (tx, db) ->
            new ViewRows(db, new ViewsSubspace(db).all(tx).get(0).number(), false)
                .refused(tx, 1)
                .get(0)
                .why()
                .triesLeft());
  }

  /** Somebody who asked for the view before it changed still waits for it. */
  @Test
  void an_index_that_moves_on_is_not_removed() throws Exception {
    ViewFollower follower = follower(Followed.NONE);
    RevisionId design = database.put("_design/d", DESIGN);
    Views.Prepared before =
        views.prepare(asked, "d", "m", new ViewArguments(Map.of(), Optional.empty(), false));
    database.put("_design/d", design, design("1"));
    quiet(follower);
    database.put("a", "{\"v\":1}");
    views.ready(before).join();
    after(ViewFollower.GRACE, follower);
    assertThat(indexes()).isEqualTo(1);
    // The update may have moved the index once more since.
    until(
        () -> {
          after(ViewFollower.GRACE, follower);
          return indexes() == 0;
        },
        follower);
  }

  private void purged(int documents) {
    database.transactions.run(
        tx -> {
          DatabaseHandle db = database.catalogue.currentForWrites(tx, database.name);
          for (int i = 0; i < documents; i++) {
            new GoneSubspace(db).insert(tx, i, "gone" + i);
          }
          database.catalogue.noteUpdate(tx, db);
          return true;
        });
  }

  @Test
  void an_index_that_keeps_too_many_purged_documents_waiting_is_dropped() {
    ViewFollower follower = follower(Followed.NONE);
    database.put("_design/d", DESIGN);
    database.put("a", "{\"v\":1}");
    query();
    purged(Views.MAX_GONE);
    quiet(follower);
    after(ViewFollower.GRACE, follower);
    after(ViewFollower.GRACE, follower);
    assertThat(info()).doesNotContain("dropped");

    purged(1);
    quiet(follower);
    after(ViewFollower.GRACE, follower);
    assertThat(info()).contains("\"dropped\":\"More than 20000 documents were purged");
    int rows =
        database.read(
            (tx, db) ->
                Awaiting.await(new GoneSubspace(db).after(tx, Optional.empty(), Views.MAX_GONE))
                    .size());
    assertThat(rows).isZero();

    assertThat(query()).contains("\"total_rows\":1,");
    assertThat(info()).contains(UP_TO_DATE).doesNotContain("dropped");
    assertThat(indexes()).isEqualTo(1);
  }
}
