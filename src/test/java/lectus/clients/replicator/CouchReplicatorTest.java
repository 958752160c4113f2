package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.clients.replicator.RemoteDatabase.ChangesFeed.Change;
import lectus.clients.replicator.RemoteDatabase.ChangesQuery;
import lectus.clients.replicator.ReplicatedDocument.Leaves;
import lectus.clients.replicator.Replication.ReplicationLogs;
import lectus.clients.replicator.Replication.ReplicationStatistics.Count;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The server at both ends of CouchDB's replicator, which {@link Replication} models. */
final class CouchReplicatorTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int REQUEST_BYTES = 64 << 20;
  private static final int SMALL_REQUEST_BYTES = 100_000;
  private static final int MAX_HISTORY = 50;

  @AutoClose
  private final LectusServer there =
      LectusServer.start(stores.fresh(), new TestSettings().maxRequestBytes(REQUEST_BYTES));

  @AutoClose
  private final LectusServer here =
      LectusServer.start(stores.fresh(), new TestSettings().maxRequestBytes(REQUEST_BYTES));

  @BeforeEach
  void create() {
    there.put("/source");
  }

  private RemoteDatabase source() {
    return RemoteDatabase.at(there.url() + "/source");
  }

  private RemoteDatabase target() {
    return RemoteDatabase.at(here.url() + "/target");
  }

  private Replication pull(ChangesQuery query) {
    return Replication.start(source(), target(), query);
  }

  private Replication pulled() {
    Replication replication = pull(ChangesQuery.once());
    replication.run();
    return replication;
  }

  private Replication pushedBack() {
    Replication replication = Replication.start(target(), source(), ChangesQuery.once());
    replication.run();
    return replication;
  }

  private void assertEqualLeaves() {
    assertThat(Leaves.of(here, "target")).isEqualTo(Leaves.of(there, "source"));
  }

  private static JsonObject json(Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return new JsonObject(answer.body());
  }

  /** Returns the checkpoint of pull replications, at either end. */
  private JsonObject checkpoint(LectusServer server, String database) {
    String id = ReplicationLogs.id(source(), target(), ReplicationLogs.VERSION);
    return json(server.get('/' + database + '/' + id));
  }

  @Test
  void what_there_is_arrives_leaf_for_leaf() {
    VariedContent.write(there, "source");

    Replication first = pulled();

    assertEqualLeaves();
    assertThat(first.refused()).isEmpty();
    assertThat(first.count(Count.DOC_WRITE_FAILURES)).isZero();
    assertThat(first.count(Count.DOCS_WRITTEN)).isEqualTo(first.count(Count.MISSING_FOUND));
    assertThat(json(here.get("/target/long")).getString("data"))
        .isEqualTo(VariedContent.LONG_STRING);
    assertThat(json(here.get("/target/plain-2?rev=" + tombstone("plain-2"))).getString("why"))
        .isEqualTo("spam");
    JsonObject conflict = json(here.get("/target/conflict?conflicts=true"));
    assertThat(conflict.getString("side")).isEqualTo("c");
    assertThat(conflict.getJsonArray("_conflicts")).containsExactly("3-live-b");
    assertThat(json(here.get("/target/roots")).getInteger("v"))
        .as("odd hashes sort among others by their bytes")
        .isEqualTo(2);
    assertThat(json(here.get("/target/_design/app")).containsKey("views")).isTrue();
    here.get("/target/_local/mine").expect(404);
  }

  private String tombstone(String id) {
    return Leaves.of(there, "source")
        .get(id)
        .getJsonObject(0)
        .getJsonObject("ok")
        .getString("_rev");
  }

  @Test
  void edits_of_both_sides_meet() {
    VariedContent.write(there, "source");
    int moved = pulled().count(Count.DOCS_WRITTEN);
    for (int i = 10; i < 20; i++) {
      edit(there, "source", "plain-" + i, "{\"by\":\"there\"}");
      edit(here, "target", "plain-" + i, "{\"by\":\"here\"}");
    }
    edit(here, "target", "_design/app", "{\"views\":{}}");
    edit(here, "target", "long", "{\"data\":\"" + VariedContent.LONG_STRING.substring(1) + "\"}");
    edit(here, "target", "plain-30", "{\"_deleted\":true}");
    edit(there, "source", "plain-30", "{\"kept\":true}");

    Replication back = pushedBack();
    Replication again = pulled();

    assertEqualLeaves();
    assertThat(back.count(Count.DOCS_WRITTEN)).isEqualTo(13);
    assertThat(again.count(Count.DOCS_WRITTEN)).as("over both sessions").isEqualTo(moved + 11);
    JsonObject kept = json(there.get("/source/plain-30?deleted_conflicts=true"));
    assertThat(kept.getJsonArray("_deleted_conflicts")).hasSize(1);
    assertThat(pulled().count(Count.DOCS_WRITTEN)).as("nothing is left").isEqualTo(moved + 11);
  }

  private static void edit(LectusServer server, String database, String id, String json) {
    String target = '/' + database + '/' + id;
    String rev = server.get(target).member("_rev");
    Answer answer = server.put(target, "{\"_rev\":\"" + rev + "\"," + json.substring(1));
    assertThat(answer.status()).as(answer.body()).isBetween(200, 201);
  }

  @Test
  void a_continuous_replication_saves_checkpoints_through_ten_rounds() {
    try (Replication replication = pull(ChangesQuery.continuously())) {
      for (int round = 1; round <= 10; round++) {
        writeRound(round);
        replication.follow(4);
        replication.checkpoint();

        assertEqualLeaves();
        JsonObject saved = checkpoint(there, "source");
        assertThat(saved.getString("_rev")).isEqualTo("0-" + round);
        assertThat(checkpoint(here, "target")).isEqualTo(saved);
        assertThat(saved.getJsonArray("history")).as("one entry, of this session").hasSize(1);
      }
    }
    Replication next = pulled();
    assertThat(next.startSeq()).isEqualTo(json(there.get("/source")).getString("update_seq"));
    assertThat(next.count(Count.DOCS_WRITTEN)).as("so far").isEqualTo(40);
  }

  /** Writes four changes, of documents and of a design document. */
  private void writeRound(int round) {
    there.write("/source/new-" + round, "{\"round\":" + round + "}");
    there.write("/source/_design/new-" + round, "{\"views\":{}}");
    String rev =
        round == 1 ? "" : ",\"_rev\":\"" + json(there.get("/source/old")).getString("_rev") + "\"";
    there.write("/source/old", "{\"round\":" + round + rev + "}");
    there
        .post(
            "/source/_bulk_docs",
            "{\"new_edits\":false,\"docs\":[{\"_id\":\"torn-" + round + "\",\"_rev\":\"1-x\"}]}")
        .expect("[]\n");
  }

  @Test
  void a_continuous_feed_that_nobody_writes_to_ends_and_is_asked_for_anew() {
    there.write("/source/a", "{}");
    try (Replication replication = pull(ChangesQuery.continuously())) {
      replication.follow(1);
      replication.followToTimeout();
      there.write("/source/b", "{}");
      replication.follow(1);
      replication.checkpoint();
      assertEqualLeaves();
    }
  }

  @Test
  void leaves_that_appear_while_their_ancestor_is_on_its_way_come_instead_of_it() {
    there.write("/source/busy", "{\"v\":1}");
    try (Replication replication = pull(ChangesQuery.continuously())) {
      List<Change> read = replication.read(1);
      String ancestor = read.get(0).revs().get(0).substring(2);
      there.post(
          "/source/_bulk_docs",
          """
          {"new_edits":false,"docs":[
            {"_id":"busy","_revisions":{"start":2,"ids":["b","%1$s"]},"v":2},
            {"_id":"busy","_revisions":{"start":2,"ids":["c","%1$s"]},"v":3}]}
          """
              .formatted(ancestor));
      replication.replicate(read);
    }
    assertEqualLeaves();
  }

  @Test
  void of_a_history_the_last_fifty_sessions_are_kept() {
    for (int session = 1; session <= MAX_HISTORY + 2; session++) {
      there.write("/source/d" + session, "{}");
      assertThat(pulled().count(Count.DOCS_WRITTEN)).as("in sum").isEqualTo(session);
    }

    JsonObject saved = checkpoint(here, "target");
    assertThat(saved.getString("_rev")).isEqualTo("0-" + (MAX_HISTORY + 2));
    JsonArray history = saved.getJsonArray("history");
    assertThat(history).hasSize(MAX_HISTORY);
    assertThat(history.getJsonObject(0).getInteger("docs_written")).isEqualTo(MAX_HISTORY + 2);
    assertThat(history.getJsonObject(MAX_HISTORY - 1).getInteger("docs_written")).isEqualTo(3);
    assertThat(checkpoint(there, "source")).isEqualTo(saved);
  }

  @Test
  void a_lost_checkpoint_is_made_up_for_from_the_histories() {
    there.write("/source/a", "{}");
    pulled();
    JsonObject older = checkpoint(here, "target");
    there.write("/source/b", "{}");
    pulled();
    String id = ReplicationLogs.id(source(), target(), ReplicationLogs.VERSION);
    here.put("/target/" + id, older.encode()).expect(201);

    Replication next = pull(ChangesQuery.once());

    assertThat(next.startSeq()).isEqualTo(older.getString("source_last_seq"));
    there.write("/source/c", "{}");
    next.run();
    assertEqualLeaves();
  }

  @Test
  void a_checkpoint_under_an_earlier_name_is_found() {
    there.write("/source/a", "{}");
    pulled();
    JsonObject saved = checkpoint(there, "source");
    String today = ReplicationLogs.id(source(), target(), ReplicationLogs.VERSION);
    String earlier = ReplicationLogs.id(source(), target(), ReplicationLogs.VERSION - 1);
    saved.remove("_id");
    saved.remove("_rev");
    rename(there, "/source/", today, earlier, saved);
    rename(here, "/target/", today, earlier, saved);

    assertThat(pull(ChangesQuery.once()).startSeq()).isEqualTo(saved.getString("source_last_seq"));
    assertThat(checkpoint(here, "target").getJsonArray("history"))
        .isEqualTo(saved.getJsonArray("history"));
  }

  private static void rename(
      LectusServer server, String database, String from, String to, JsonObject log) {
    server.delete(database + from + "?rev=0-1").expect(200);
    server.put(database + to, log.encode()).expect(201);
  }

  @Test
  void a_name_and_a_password_in_the_urls_open_sessions() {
    there.write("/source/a", "{}");
    RemoteDatabase from = RemoteDatabase.at(ofUser(there, "/source"));
    RemoteDatabase to = RemoteDatabase.at(ofUser(here, "/target"));

    Replication.start(from, to, ChangesQuery.once()).run();

    assertThat(from.session()).isPresent();
    assertThat(to.session()).isPresent();
    assertEqualLeaves();
  }

  /** Returns the URL, with name and password, of a database that a user may write. */
  private static String ofUser(LectusServer server, String database) {
    server.put("/_users");
    server.put(
        "/_users/org.couchdb.user:jan",
        "{\"name\":\"jan\",\"type\":\"user\",\"roles\":[],\"password\":\"sécret+&\"}");
    server.put(database);
    server.put(database + "/_security", "{\"members\":{\"names\":[\"jan\"]}}").expect(200);
    return server.url().replace("//", "//jan:s%C3%A9cret+%26@") + database;
  }

  @Test
  void a_validation_function_arrives_and_checkpoints_go_on() {
    there.write("/source/before", "{}");
    there.write("/source/_design/guard", "{\"validate_doc_update\":\"function () {}\"}");
    pulled();
    String after = "{\"new_edits\":false,\"docs\":[{\"_id\":\"after\",\"_rev\":\"1-x\"}]}";
    there.post("/source/_bulk_docs", after).expect("[]\n");
    Replication second = pulled();

    assertEqualLeaves();
    assertThat(second.count(Count.DOC_WRITE_FAILURES)).isZero();
    assertThat(checkpoint(here, "target").getString("_rev")).isEqualTo("0-2");
    here.put("/target/interactive", "{}").expect(201);
  }

  @Test
  void only_documents_that_are_asked_for_come() {
    VariedContent.write(there, "source");

    Replication byId =
        pull(ChangesQuery.ofDocuments(List.of("plain-5", "_design/app", "conflict", "absent")));
    byId.run();
    assertThat(Leaves.of(here, "target")).containsOnlyKeys("plain-5", "_design/app", "conflict");
    Replication bySelector =
        Replication.start(
            source(),
            RemoteDatabase.at(here.url() + "/selected"),
            ChangesQuery.ofSelector(new JsonObject("{\"i\":{\"$gte\":590}}")));
    bySelector.run();
    assertThat(Leaves.of(here, "selected").keySet())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(590, VariedContent.PLAIN).mapToObj(i -> "plain-" + i).toList());
  }

  @Test
  void what_the_target_refuses_does_not_keep_the_rest_from_coming() {
    List.of("p:a", "nowhere", "p:b", "_design/d").forEach(id -> there.write("/source/" + id, "{}"));
    here.put("/target?partitioned=true").expect(201);

    Replication replication = pulled();

    assertThat(replication.refused())
        .singleElement()
        .satisfies(row -> assertThat(row.getString("error")).isEqualTo("forbidden"))
        .satisfies(row -> assertThat(row.getString("reason")).startsWith("illegal_docid: "))
        .satisfies(row -> assertThat(row.getString("id")).isEqualTo("nowhere"))
        .satisfies(row -> assertThat(row.getString("rev")).startsWith("1-"));
    assertThat(replication.count(Count.DOC_WRITE_FAILURES)).isEqualTo(1);
    assertThat(Leaves.of(here, "target")).containsOnlyKeys("p:a", "p:b", "_design/d");
    assertThat(pulled().count(Count.MISSING_CHECKED)).as("nothing is asked for again").isEqualTo(4);
  }

  @Test
  void what_the_target_fails_to_store_comes_again() {
    List.of("a", "b", "c", "d", "e", "f").forEach(id -> there.write("/source/" + id, "{}"));
    FaultyStore faulty = new FaultyStore(stores.fresh());
    faulty.keepFailing(
        FaultyStore.onThreads("lectus-executor", List.of(Fault.NONE, Fault.IO_ERROR)));
    // A quarter of the queue is two edits, too, so no transaction takes more of a request.
    TestSettings twoAtOnce = new TestSettings().oneExecutor(2).queue(8, 64 << 20);
    try (LectusServer shaky = LectusServer.start(faulty.store(), twoAtOnce)) {
      Replication replication =
          Replication.start(
              source(), RemoteDatabase.at(shaky.url() + "/target"), ChangesQuery.once());
      replication.run();

      assertThat(replication.count(Count.DOC_WRITE_FAILURES)).isZero();
      assertThat(Leaves.of(shaky, "target")).isEqualTo(Leaves.of(there, "source"));
    }
  }

  @Test
  void a_batch_that_is_too_large_for_the_target_is_cut_until_it_fits() {
    String half = "x".repeat(SMALL_REQUEST_BYTES / 2);
    List.of("a", "b", "c").forEach(id -> there.write("/source/" + id, "{\"v\":\"" + half + "\"}"));
    there.write("/source/too-large", "{\"v\":[\"" + half + "\",\"" + half + "\"]}");
    TestSettings small = new TestSettings().maxRequestBytes(SMALL_REQUEST_BYTES);
    try (LectusServer narrow = LectusServer.start(stores.fresh(), small)) {
      Replication replication =
          Replication.start(
              source(), RemoteDatabase.at(narrow.url() + "/target"), ChangesQuery.once());
      replication.run();

      assertThat(replication.count(Count.DOC_WRITE_FAILURES)).isEqualTo(1);
      assertThat(Leaves.of(narrow, "target")).containsOnlyKeys("a", "b", "c");
    }
  }

  /** Documents of every kind that a replication may encounter. */
  private static final class VariedContent {
    /** More than one batch of changes. */
    static final int PLAIN = 600;

    /** The size of Obsidian LiveSync's largest chunks. */
    static final int LONG_STRING_BYTES = 5_000_000;

    /** Ids that have to be encoded in a path. */
    static final List<String> ODD_IDS =
        List.of("a/b ü", "plus+and&more?#", "100%", "日本語", "\uD83D\uDE00", "h:chunk", "~*'()!");

    static final String LONG_STRING = base64(LONG_STRING_BYTES);

    private final LectusServer server;
    private final String database;

    private VariedContent(LectusServer server, String database) {
      this.server = server;
      this.database = '/' + database;
    }

    static void write(LectusServer server, String database) {
      VariedContent content = new VariedContent(server, database);
      content.plain();
      content.tombstones();
      content.conflicts();
      content.designs();
      content.locals();
    }

    private void plain() {
      List<JsonObject> docs = new ArrayList<>();
      for (int i = 0; i < PLAIN; i++) {
        docs.add(
            new JsonObject()
                .put("_id", "plain-" + i)
                .put("i", i)
                .put("nested", new JsonArray().add(i / 2.0).addNull().add(new JsonObject())));
      }
      ODD_IDS.forEach(id -> docs.add(new JsonObject().put("_id", id).put("odd", id)));
      docs.add(new JsonObject().put("_id", "long").put("data", LONG_STRING));
      bulk(docs, true);
    }

    private void tombstones() {
      delete("plain-1");
      put("plain-2", "{\"_deleted\":true,\"_rev\":\"" + rev("plain-2") + "\",\"why\":\"spam\"}");
      delete("plain-3");
      put("plain-3", "{\"back\":true}");
    }

    /** Trees as other servers make them, with arbitrary hashes. */
    private void conflicts() {
      bulk(
          List.of(
              leaf("conflict", 3, "live-b", "2b", "1").put("side", "b"),
              leaf("conflict", 3, "live-c", "2c", "1").put("side", "c"),
              leaf("conflict", 4, "gone", "3d", "2d", "1").put("_deleted", true).put("side", "d"),
              leaf("roots", 1, "abc").put("v", 1),
              leaf("roots", 1, "f".repeat(32)).put("v", 2),
              leaf("roots", 1, "0".repeat(32)).put("v", 3),
              leaf("stem", 7, "s7", "s6").put("ancestors", "unknown"),
              leaf("all-gone", 2, "x", "w").put("_deleted", true).put("left", "a will"),
              leaf("all-gone", 2, "y", "w").put("_deleted", true)),
          false);
    }

    private void designs() {
      String views = "{\"all\":{\"map\":\"function (doc) { emit(doc._id, null); }\"}}";
      put("_design/app", "{\"language\":\"javascript\",\"views\":" + views + "}");
      put("_design/a b%2Fc", "{\"filters\":{\"mine\":\"function () { return true; }\"}}");
      bulk(
          List.of(
              leaf("_design/torn", 2, "b", "a").put("v", 1),
              leaf("_design/torn", 2, "c", "a").put("v", 2),
              leaf("_design/gone", 2, "g", "f").put("_deleted", true)),
          false);
    }

    /** Local documents, which are not replicated. */
    private void locals() {
      put("_local/mine", "{\"v\":1}");
    }

    private static JsonObject leaf(String id, int start, String... hashes) {
      return new JsonObject()
          .put("_id", id)
          .put("_rev", start + "-" + hashes[0])
          .put(
              "_revisions",
              new JsonObject().put("start", start).put("ids", new JsonArray(List.of(hashes))));
    }

    private void bulk(List<JsonObject> docs, boolean newEdits) {
      JsonObject body =
          new JsonObject().put("new_edits", newEdits).put("docs", new JsonArray(docs));
      Answer answer = server.post(database + "/_bulk_docs", body.encode());
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
      assertThat(answer.body()).doesNotContain("\"error\"");
    }

    private void put(String path, String json) {
      Answer answer = server.put(database + '/' + path.replace(" ", "%20"), json);
      assertThat(answer.status()).as(answer.body()).isBetween(200, 201);
    }

    private void delete(String id) {
      server.delete(database + '/' + id + "?rev=" + rev(id)).expect(200);
    }

    private String rev(String id) {
      return server.get(database + '/' + id).member("_rev");
    }

    /** Returns text that does not compress well, the same every time. */
    private static String base64(int bytes) {
      byte[] noise = new byte[bytes / 4 * 3];
      new Random(20_26).nextBytes(noise);
      return Base64.getEncoder().encodeToString(noise);
    }
  }
}
