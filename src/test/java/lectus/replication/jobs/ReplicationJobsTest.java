package lectus.replication.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.config.ReplicatorKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Replications that documents describe, on one server. */
final class ReplicationJobsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** Nothing answers there. */
  private static final String NOWHERE = "http://127.0.0.1:9/db";

  private final Store store = stores.fresh();
  @AutoClose private LectusServer server = LectusServer.start(store);

  @BeforeEach
  void create() {
    server.put("/_replicator");
    server.put("/a");
    server.put("/b");
    server.write("/a/first", "{}");
  }

  private static String described(String source, String target, String more) {
    return "{\"source\":\"%s\",\"target\":\"%s\"%s}".formatted(source, target, more);
  }

  private String state(String document) {
    Answer answer = server.get("/_scheduler/docs/_replicator/" + document);
    return answer.status() == 200 ? answer.member("state") : Integer.toString(answer.status());
  }

  private void await(String document, String state) {
    Await.until(document + " is " + state, () -> state(document).equals(state));
  }

  private void awaitCopied(String id) {
    Await.until(id + " has come", () -> server.get("/b/" + id).status() == 200);
  }

  @Test
  void a_replication_that_ends_is_noted_in_its_document() {
    server.write("/_replicator/r", described("a", "b", ""));

    await("r", "completed");

    awaitCopied("first");
    Answer document = server.get("/_replicator/r");
    assertThat(document.member("_rev")).startsWith("2-");
    assertThat(document.member("_replication_state")).isEqualTo("completed");
    assertThat(document.member("_replication_state_time"))
        .matches("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z");
    assertThat(document.body())
        .contains("\"_replication_stats\":{", "\"docs_written\":1", "\"start_time\":\"20");
    Answer shown = server.get("/_scheduler/docs/_replicator/r");
    assertThat(shown.body())
        .startsWith("{\"database\":\"_replicator\",\"doc_id\":\"r\",\"id\":null,\"source\":\"a\"")
        .contains("\"docs_written\":1", "\"error_count\":0");
    assertThat(server.get("/_scheduler/jobs").body()).startsWith("{\"total_rows\":0,");
  }

  @Test
  void a_continuous_replication_brings_what_is_written_later() {
    server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));
    awaitCopied("first");

    for (int i = 0; i < 5; i++) {
      server.write("/a/later" + i, "{}");
      awaitCopied("later" + i);
    }

    assertThat(state("r")).isEqualTo("running");
    assertThat(server.get("/_scheduler/jobs").body())
        .startsWith(
            "{\"total_rows\":1,\"offset\":0,\"jobs\":[{\"database\":\"_replicator\",\"id\":\"")
        .contains("+continuous\"", "\"type\":\"started\"", "\"type\":\"added\"", "\"doc_id\":\"r\"")
        .doesNotContain("\"pid\":null", "stopped");
    assertThat(server.get("/_active_tasks").body())
        .contains(
            "\"type\":\"replication\"",
            "\"database\":\"_replicator\",\"doc_id\":\"r\",\"source\":\"a\",\"target\":\"b\"",
            "\"docs_written\":6");
    assertThat(server.get("/_node/_local/_stats/couch_replicator/jobs/running").body())
        .startsWith("{\"value\":1,");
    // The document itself is told nothing.
    assertThat(server.get("/_replicator/r").member("_rev")).startsWith("1-");
  }

  @Test
  void what_clients_have_asked_for_is_among_the_jobs() {
    String id =
        server.post("/_replicate", described("a", "b", ",\"continuous\":true")).member("_local_id");

    assertThat(server.get("/_scheduler/jobs").body())
        .startsWith("{\"total_rows\":1,")
        .contains("\"id\":\"" + id + "\"", "\"doc_id\":null", "\"database\":null");
    assertThat(server.get("/_scheduler/jobs/" + id).member("id")).isEqualTo(id);
    server.get("/_scheduler/jobs/" + id + "x").expect(404);
  }

  @Test
  void a_replication_ends_with_its_document() {
    String rev = server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));
    awaitCopied("first");

    server.delete("/_replicator/r?rev=" + rev);
    Await.until(
        "there is no job", () -> server.get("/_scheduler/jobs").body().contains("_rows\":0"));
    server.write("/_replicator/s", described("a", "b", ",\"continuous\":true"));
    await("s", "running");
    server.delete("/_replicator");

    Await.until(
        "there is no job", () -> server.get("/_scheduler/jobs").body().contains("_rows\":0"));
    assertThat(state("s")).isEqualTo("404");
  }

  @Test
  void a_document_that_changes_begins_another_replication() {
    String rev = server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));
    awaitCopied("first");
    server.put("/c");

    server.put("/_replicator/r?rev=" + rev, described("a", "c", ",\"continuous\":true"));

    Await.until("it has come", () -> server.get("/c/first").status() == 200);
    assertThat(server.get("/_scheduler/docs/_replicator/r").member("target")).isEqualTo("c");
    server.write("/a/later", "{}");
    Await.until("it has come", () -> server.get("/c/later").status() == 200);
    server.get("/b/later").expect(404);
  }

  @Test
  void one_that_fails_is_tried_again_later() {
    server.write("/_replicator/r", described(NOWHERE, "b", ""));
    server.write("/_replicator/s", described("missing", "b", ""));

    await("r", "crashing");
    await("s", "crashing");

    Answer shown = server.get("/_scheduler/docs/_replicator/r");
    assertThat(shown.body()).contains("\"error_count\":1", "\"info\":{\"error\":\"");
    assertThat(server.get("/_scheduler/docs/_replicator/s").body()).contains("db_not_found");
    assertThat(server.get("/_scheduler/jobs").body())
        .contains("\"type\":\"crashed\",\"reason\":\"", "\"pid\":null");
    assertThat(server.get("/_replicator/r").body()).doesNotContain("_replication_state");
  }

  @Test
  void the_second_document_of_a_replication_fails() {
    server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));
    await("r", "running");

    server.write("/_replicator/s", described("a", "b", ",\"continuous\":true,\"x\":1"));

    await("s", "failed");
    Answer document = server.get("/_replicator/s");
    assertThat(document.member("_replication_state")).isEqualTo("failed");
    assertThat(document.member("_replication_state_reason"))
        .endsWith("already started, triggered by document `r` from db `_replicator`");
    assertThat(server.get("/_scheduler/docs?states=failed").body())
        .startsWith("{\"total_rows\":2,\"offset\":0,\"docs\":[\r\n{\"database\":\"_replicator\",")
        .contains("\"doc_id\":\"s\"", "\"error_count\":1")
        .doesNotContain("\"doc_id\":\"r\"");
  }

  @Test
  void what_a_document_describes_has_no_second_run_beside() {
    server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));
    awaitCopied("first");
    String id = server.get("/_scheduler/docs/_replicator/r").member("id");

    Answer begun =
        server.post("/_replicate", described("a", "b", ",\"continuous\":true")).expect(202);
    assertThat(begun.member("_local_id")).isEqualTo(id);
    assertThat(server.get("/_scheduler/jobs").body()).startsWith("{\"total_rows\":1,");
  }

  @Test
  void a_document_waits_for_what_a_client_has_asked_for() {
    server.post("/_replicate", described("a", "b", ",\"continuous\":true"));

    server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));

    await("r", "error");
    assertThat(server.get("/_scheduler/docs/_replicator/r").body())
        .contains("already running as transient replication, started via `_replicate` API");
  }

  /** Its id is known only once the function was read. */
  @Test
  void a_document_that_has_waited_keeps_no_other_one_from_it() {
    server.put("/a/_design/d", "{\"filters\":{\"f\":\"function () { return true; }\"}}");
    String same = described("a", "b", ",\"continuous\":true,\"filter\":\"d/f\"");
    server.post("/_replicate", same).expect(202);
    Answer first = server.put("/_replicator/r", same);
    await("r", "error");

    server.delete("/_replicator/r?rev=" + first.member("rev"));
    server.put("/_replicator/s", same);

    await("s", "error");
  }

  @Test
  void what_describes_no_replication_is_refused_and_what_a_replicator_brings_of_it_fails() {
    Answer refused = server.put("/_replicator/r", "{\"source\":\"a\"}").expect(403);
    assertThat(refused.member("reason")).isEqualTo("Missing replicator database");

    server.put("/_replicator/r?new_edits=false", "{\"source\":\"a\",\"_rev\":\"1-a\"}");

    await("r", "failed");
    assertThat(server.get("/_replicator/r").member("_replication_state_reason"))
        .isEqualTo("Missing replicator database");
  }

  @Test
  void a_place_to_begin_that_no_database_here_has_fails_for_good() {
    String json = described("a", "b", ",\"since_seq\":\"garbage\"");
    server.put("/_replicator/r", json).expect(403);
    String brought = json.substring(0, json.length() - 1) + ",\"_rev\":\"1-a\"}";

    server.put("/_replicator/r?new_edits=false", brought);

    await("r", "failed");
    assertThat(server.get("/_replicator/r").member("_replication_state_reason"))
        .contains("Malformed sequence");
  }

  @Test
  void one_without_checkpoints_goes_on_where_it_was_while_its_databases_are_the_same() {
    server.write("/a/second", "{}");
    server.write(
        "/_replicator/r", described("a", "b", ",\"continuous\":true,\"use_checkpoints\":false"));
    awaitCopied("first");
    awaitCopied("second");
    server.write("/a/later", "{}");
    awaitCopied("later");
    Await.until(
        "one revision was looked at",
        () ->
            server
                .get("/_scheduler/docs/_replicator/r")
                .body()
                .contains("\"revisions_checked\":1,"));

    String before = server.get("/b").member("instance_start_time");
    Await.until(
        "it is made anew in another second",
        () -> {
          server.delete("/b");
          server.put("/b");
          return !server.get("/b").member("instance_start_time").equals(before);
        });
    server.write("/a/last", "{}");

    awaitCopied("last");
    awaitCopied("first");
    assertThat(server.get("/b/_local_docs").body()).doesNotContain("\"id\"");
  }

  @Test
  void a_selector_that_none_can_apply_does_not_hold_up_other_replications() {
    String json = described("a", "b", ",\"selector\":{\"$and\":5}");
    server.put("/_replicator/r", json).expect(403);
    String brought = json.substring(0, json.length() - 1) + ",\"_rev\":\"1-a\"}";
    server.put("/_replicator/r?new_edits=false", brought).expect(201);
    server.put("/_replicator/s", described("a", "b", ""));

    await("r", "failed");
    await("s", "completed");
  }

  @Test
  void a_server_that_starts_goes_on_with_what_is_described() {
    server.write("/_replicator/r", described("a", "b", ",\"continuous\":true"));
    awaitCopied("first");
    server.close();
    server = LectusServer.start(store);

    server.write("/a/later", "{}");

    awaitCopied("later");
    await("r", "running");
  }

  @Test
  void so_many_run_at_a_time_and_make_room_for_those_that_wait() {
    server.close();
    server =
        LectusServer.start(
            store,
            new TestSettings()
                .with(ReplicatorKeys.MAX_JOBS, 1)
                .with(ReplicatorKeys.INTERVAL_MILLIS, 200));
    String remote = server.url() + "/a";
    server.put("/c");
    server.write("/_replicator/r", described(remote, "b", ",\"continuous\":true"));
    await("r", "running");

    server.write("/_replicator/s", described(remote, "c", ",\"continuous\":true"));

    Await.until("the second has had its turn", () -> server.get("/c/first").status() == 200);
    Await.until(
        "one was stopped",
        () -> server.get("/_scheduler/jobs").body().contains("\"type\":\"stopped\""));
    server.write("/a/later", "{}");
    awaitCopied("later");
    Await.until("both get it in turn", () -> server.get("/c/later").status() == 200);
  }

  @Test
  void a_function_that_filters_is_a_part_of_the_id() {
    server.close();
    server = LectusServer.start(store, new TestSettings().with(ReplicatorKeys.DENY, ""));
    String remote = server.url() + "/a";
    server.write(
        "/a/_design/d", "{\"filters\":{\"f\":\"function (doc) { return doc._id != 'not'; }\"}}");
    server.write("/a/not", "{}");

    server.write(
        "/_replicator/r", described(remote, "b", ",\"continuous\":true,\"filter\":\"d/f\""));
    server.write("/_replicator/s", described(remote, "b", ",\"filter\":\"d/missing\""));

    awaitCopied("first");
    server.get("/b/not").expect(404);
    assertThat(server.get("/_scheduler/docs/_replicator/r").member("id")).endsWith("+continuous");
    await("s", "error");
    assertThat(server.get("/_scheduler/docs/_replicator/s").body())
        .contains("filter_fetch_error", "\"error_count\":1");
  }

  @Test
  void documents_for_which_there_is_no_memory_wait_until_there_is() {
    server.close();
    // For four of them.
    server = LectusServer.start(store, new TestSettings().replicationMemoryBytes(2 << 10));
    String[] revs = new String[5];
    for (int i = 0; i < revs.length; i++) {
      server.put("/c" + i);
      revs[i] = server.write("/_replicator/r" + i, described("a", "c" + i, ",\"continuous\":true"));
    }
    Await.until(
        "four run", () -> server.get("/_scheduler/jobs").body().contains("\"total_rows\":4,"));
    String left =
        IntStream.range(0, revs.length)
            .mapToObj(i -> "r" + i)
            .filter(document -> state(document).equals("initializing"))
            .findFirst()
            .orElseThrow();
    int removed = left.equals("r0") ? 1 : 0;

    server.delete("/_replicator/r" + removed + "?rev=" + revs[removed]);

    await(left, "running");
  }

  @Test
  void a_list_has_pages_and_states() {
    for (int i = 0; i < 45; i++) {
      server.write(
          "/_replicator/r%02d".formatted(i), described("a", "b", ",\"doc_ids\":[\"" + i + "\"]"));
    }
    server.write("/_replicator/_design/d", "{}");
    Await.until(
        "all have ended",
        () -> server.get("/_scheduler/docs?states=completed").body().split("doc_id").length == 46);

    String page = server.get("/_scheduler/docs?limit=2&skip=20").body();
    assertThat(page)
        .startsWith("{\"total_rows\":46,\"offset\":20,\"docs\":[\r\n")
        .contains("\"r20\"", "\"r21\"")
        .doesNotContain("\"r19\"", "\"r22\"", "_design");
    assertThat(server.get("/_scheduler/docs?descending=true&limit=1").body()).contains("\"r44\"");
    assertThat(server.get("/_scheduler/docs?states=running,pending").body())
        .endsWith("[\r\n\r\n]}\n");
    server.get("/_scheduler/docs?states=odd").expect(400);
  }
}
