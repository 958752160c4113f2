package lectus.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lectus.audit.testing.SoundStore;
import lectus.config.ReplicatorKeys;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Member;
import lectus.http.testing.TestSettings;
import lectus.store.Store;
import lectus.store.WrappedTransactions;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replications that clients ask for, between databases of one server and of two. */
final class ReplicateTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  @AutoClose private final LectusServer here = LectusServer.start(stores.fresh());
  @AutoClose private final LectusServer there = LectusServer.start(stores.fresh());

  private String remote(LectusServer server, String database) {
    return "\"" + server.url() + "/" + database + "\"";
  }

  private Answer replicate(String source, String target, String more) {
    return here.post("/_replicate", "{\"source\":" + source + ",\"target\":" + target + more + "}");
  }

  /** Documents, conflicts, tombstones, attachments, and a document without a plain name. */
  private void fill(LectusServer server, String database) {
    server.put("/" + database);
    List<String> docs = new ArrayList<>();
    for (int i = 0; i < 1_200; i++) {
      docs.add("{\"_id\":\"d" + i + "\",\"n\":" + i + "}");
    }
    server.post("/" + database + "/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
    server.post(
        "/" + database + "/_bulk_docs",
        "{\"new_edits\":false,\"docs\":["
            + "{\"_id\":\"d1\",\"_rev\":\"2-b\",\"_revisions\":{\"start\":2,\"ids\":[\"b\",\"a\"]},\"c\":1},"
            + "{\"_id\":\"d1\",\"_rev\":\"2-c\",\"_revisions\":{\"start\":2,\"ids\":[\"c\",\"a\"]},\"c\":2},"
            + "{\"_id\":\"old\",\"_rev\":\"1-f\",\"_attachments\":{\"a\":{\"data\":\"YWJj\"}}},"
            + "{\"_id\":\"gone\",\"_rev\":\"3-d\",\"_deleted\":true},{\"_id\":\"a/b+c"
            + " &é\",\"_rev\":\"1-e\",\"x\":1.50}]}");
    String rev = server.write("/" + database + "/with", "{\"n\":1}");
    server
        .request("PUT", "/" + database + "/with/one.txt?rev=" + rev, "Content-Type", "text/plain")
        .body("x".repeat(200_000).getBytes(StandardCharsets.UTF_8))
        .send();
    server.write("/" + database + "/_design/d", "{\"language\":\"query\"}");
  }

  private static String leaves(LectusServer server, String database) {
    List<String> rows = new ArrayList<>();
    for (String row :
        server.get("/" + database + "/_changes?style=all_docs").body().lines().toList()) {
      int id = row.indexOf("\"id\"");
      if (id >= 0) {
        rows.add(row.substring(id).replaceAll(",$", ""));
      }
    }
    rows.sort(null);
    return String.join("\n", rows);
  }

  private void assertSame(LectusServer one, String first, LectusServer other, String second) {
    assertThat(leaves(other, second)).isEqualTo(leaves(one, first)).contains("d1199");
    other.get("/" + second + "/with/one.txt").expect("x".repeat(200_000));
    other.get("/" + second + "/old/a").expect("abc");
    other
        .get("/" + second + "/a%2Fb%2Bc%20%26%C3%A9")
        .expect(one.get("/" + first + "/a%2Fb%2Bc%20%26%C3%A9").body());
  }

  @Test
  void a_pull_brings_every_leaf() {
    fill(there, "w");
    here.put("/w");

    Answer answer = replicate(remote(there, "w"), "\"w\"", "");

    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertSame(there, "w", here, "w");
    assertThat(answer.body())
        .startsWith("{\"ok\":true,\"session_id\":\"")
        .contains("\"replication_id_version\":4,\"history\":[{")
        .contains("\"docs_read\":1207,\"docs_written\":1207,\"doc_write_failures\":0")
        // All others have one leaf, which came with the change.
        .contains("\"bulk_get_docs\":4,\"bulk_get_attempts\":6");
  }

  @Test
  void what_came_although_the_target_had_it_is_not_counted_as_copied() {
    fill(there, "w");
    here.put("/w");
    replicate(remote(there, "w"), "\"w\"", "");

    assertThat(replicate(remote(there, "w"), "\"w\"", ",\"winning_revs_only\":true").body())
        .contains("\"missing_checked\":1205,\"missing_found\":0,\"docs_read\":0,")
        .contains("\"docs_written\":0,\"doc_write_failures\":0");
  }

  @Test
  void a_push_brings_every_leaf() {
    fill(here, "w");

    Answer answer = replicate("\"w\"", remote(there, "w"), ",\"create_target\":true");

    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertSame(here, "w", there, "w");
    assertThat(answer.body())
        .contains("\"missing_checked\":1207,\"missing_found\":1207,\"docs_read\":1207,")
        .contains("\"docs_written\":1207,\"doc_write_failures\":0")
        .contains("\"bulk_get_docs\":4,\"bulk_get_attempts\":6");
  }

  @Test
  void databases_of_one_server_need_no_connection() {
    fill(here, "w");

    Answer answer =
        replicate("\"w\"", "\"copy\"", ",\"create_target\":true,\"worker_batch_size\":20");

    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertSame(here, "w", here, "copy");
    assertThat(answer.body()).contains("\"missing_checked\":1207,\"missing_found\":1207");
  }

  @Test
  void a_second_run_goes_on_where_the_first_stopped() {
    fill(there, "w");
    here.put("/w");
    replicate(remote(there, "w"), "\"w\"", "");

    assertThat(replicate(remote(there, "w"), "\"w\"", "").body())
        .startsWith("{\"ok\":true,\"no_changes\":true,\"session_id\":\"");
    there.write("/w/new", "{}");
    assertThat(replicate(remote(there, "w"), "\"w\"", "").body())
        .contains("\"missing_checked\":1208,\"missing_found\":1208,\"docs_read\":1208");
    here.get("/w/new").expect(200);
  }

  @Test
  void it_goes_on_at_a_server_with_the_same_uuid_that_has_the_checkpoint() {
    TestSettings settings = new TestSettings().with(ReplicatorKeys.UUID, "0123456789abcdef");
    String body = "{\"source\":" + remote(there, "w") + ",\"target\":\"w\"}";
    there.put("/w");
    there.write("/w/a", "{}");
    String local;
    String checkpoint;
    try (LectusServer before = LectusServer.start(stores.fresh(), settings)) {
      before.put("/w");
      before.post("/_replicate", body);
      local = "/w/" + before.get("/w/_local_docs").member("id");
      checkpoint = before.get(local).body().replaceFirst("\"_rev\":\"[^\"]*\",", "");
    }
    try (LectusServer after = LectusServer.start(stores.fresh(), settings)) {
      after.put("/w");
      after.write(local, checkpoint);
      there.write("/w/b", "{}");

      assertThat(after.post("/_replicate", body).body()).contains("\"docs_written\":2,");
      after.get("/w/a").expect(404);
      after.get("/w/b").expect(200);
    }
  }

  @Test
  void a_continuous_one_follows_until_it_is_cancelled() {
    here.put("/w");
    there.put("/w");
    String body = "{\"source\":" + remote(there, "w") + ",\"target\":\"w\",\"continuous\":true";
    Answer begun = here.post("/_replicate", body + "}").expect(202);
    assertThat(begun.member("_local_id")).endsWith("+continuous");
    there.write("/w/a", "{}");
    Await.until("it comes", () -> here.get("/w/a").status() == 200);
    Await.until(
        "it is counted", () -> here.get("/_active_tasks").body().contains("\"docs_written\":1,"));
    assertThat(here.get("/_active_tasks").body())
        .contains("\"type\":\"replication\"", "\"user\":null", "\"target\":\"w\"");

    here.post("/_replicate", body + ",\"cancel\":true}").expect(200);
    Await.until("it ends", () -> here.get("/_active_tasks").body().strip().equals("[]"));
    there.write("/w/b", "{}");

    here.get("/w/b").expect(404);
    here.post("/_replicate", body + ",\"cancel\":true}").expect(404);
  }

  @Test
  void a_continuous_one_between_local_databases_wakes_for_a_change() {
    here.put("/w");
    here.put("/copy");
    here.post("/_replicate", "{\"source\":\"w\",\"target\":\"copy\",\"continuous\":true}");
    for (int i = 0; i < 3; i++) {
      String id = "/a" + i;
      here.write("/w" + id, "{}");
      Await.until("it comes", () -> here.get("/copy" + id).status() == 200);
    }
  }

  @Test
  void only_what_is_chosen_comes() {
    fill(there, "w");
    here.put("/ids");
    here.put("/selected");
    replicate(remote(there, "w"), "\"ids\"", ",\"doc_ids\":[\"d7\",\"d8\",\"none\"]");
    replicate(remote(there, "w"), "\"selected\"", ",\"selector\":{\"n\":{\"$lt\":5}}");

    assertThat(here.get("/ids").body()).contains("\"doc_count\":2,");
    assertThat(leaves(here, "selected"))
        .contains("\"d0\"", "\"d4\"")
        .doesNotContain("\"d5\"", "\"gone\"");
  }

  @Test
  void bodies_of_every_form_come_over_between_databases_of_one_server() {
    List<String> docs =
        List.of(
            "{\"_id\":\"nested\",\"b\":{\"z\":[[1,{\"y\":[]}],{}],\"a\":{\"\\u0000\":1,\"\":2}},\"a\":-1.5e300}",
            "{\"_id\":\"empty\"}",
            "{\"_id\":\"rows\",\"text\":\"" + "x".repeat(20_000) + "\"}",
            "{\"_id\":\"text\",\"text\":\"" + "x".repeat(1_500_000) + "\"}",
            "{\"_id\":\"attached\",\"_attachments\":{\"a\":{\"data\":\"YWJj\"}}}");
    here.put("/w");
    here.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
    for (int i = 0; i < 5; i++) {
      here.write("/w/edited", "{\"n\":" + i + revision("/w/edited") + "}");
    }
    here.put("/w/_revs_limit", "3");

    replicate("\"w\"", "\"copy\"", ",\"create_target\":true");

    for (String id : List.of("nested", "empty", "rows", "text", "attached", "edited")) {
      String shown = id + "?revs=true&conflicts=true";
      here.get("/copy/" + shown).expect(here.get("/w/" + shown).body());
    }
    assertThat(here.get("/copy/edited?revs=true").body()).contains("\"start\":5");
  }

  private String revision(String document) {
    Answer stored = here.get(document);
    return stored.status() == 200 ? ",\"_rev\":\"" + stored.member("_rev") + "\"" : "";
  }

  @Test
  void a_function_filters_a_source_of_this_store() {
    here.put("/w");
    here.put(
        "/w/_design/d",
        "{\"filters\":{\"least\":\"function (doc, req) { return doc.n >= Number(req.query.n);"
            + " }\"},\"views\":{\"even\":{\"map\":\"function (doc) { if (doc.n % 2 === 0) {"
            + " emit(doc.n); } }\"}}}");
    List<String> docs = new ArrayList<>();
    // More than one page that a function is asked about.
    for (int i = 0; i < 450; i++) {
      docs.add("{\"_id\":\"d" + i + "\",\"n\":" + i + "}");
    }
    here.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
    String least = ",\"filter\":\"d/least\",\"query_params\":{\"n\":\"440\"}";
    String even = ",\"filter\":\"_view\",\"query_params\":{\"view\":\"d/even\"}";
    here.put("/least");
    here.put("/even");

    replicate("\"w\"", "\"least\"", least + ",\"worker_batch_size\":3");
    replicate("\"w\"", "\"even\"", even);

    assertThat(here.get("/least").body()).contains("\"doc_count\":10,");
    assertThat(here.get("/even").body()).contains("\"doc_count\":225,");
    assertThat(replicate("\"w\"", "\"even\"", ",\"filter\":\"d/none\"").body())
        .contains("filter_fetch_error");
    replicate("\"w\"", "\"even\"", ",\"filter\":\"_none\"").expect(400);
    here.post(
        "/_replicate", "{\"source\":\"w\",\"target\":\"least\",\"continuous\":true" + least + "}");
    here.write("/w/less", "{\"n\":1}");
    here.write("/w/more", "{\"n\":1000}");
    Await.until("it comes", () -> here.get("/least/more").status() == 200);
    here.get("/least/less").expect(404);
  }

  @Test
  void whoever_says_where_to_begin_is_not_asked_where_the_last_run_was() {
    fill(there, "w");
    here.put("/w");
    replicate(remote(there, "w"), "\"w\"", "");

    assertThat(replicate(remote(there, "w"), "\"w\"", ",\"since_seq\":0").body())
        .doesNotContain("no_changes")
        .contains("\"missing_checked\":2414,\"missing_found\":1207");
    assertThat(replicate(remote(there, "w"), "\"w\"", "").body()).contains("\"no_changes\":true");
  }

  @Test
  void a_user_has_a_share_of_the_places() {
    Store store = stores.fresh();
    Member.makeAdmin(store, "root");
    try (LectusServer server = LectusServer.start(store)) {
      Member root = new Member(server, "root");
      root.request("PUT", "/_users").send();
      root.user("u");
      root.database("w", "u");
      root.database("copy", "u");
      Member user = new Member(server, "u");
      for (int i = 0; i < 100; i++) {
        continuous(user, i).expect(202);
      }
      continuous(user, 100).expect(503);
      continuous(user, 0).expect(202);
      continuous(root, 100).expect(202);
    }
  }

  private static Answer continuous(Member member, int number) {
    String body = "{\"source\":\"w\",\"target\":\"copy\",\"continuous\":true,\"doc_ids\":[\"%d\"]}";
    return member.request("POST", "/_replicate").json(body.formatted(number)).send();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void what_the_target_refuses_is_counted(boolean pulls) {
    LectusServer source = pulls ? there : here;
    LectusServer target = pulls ? here : there;
    source.put("/w");
    source.write("/w/a", "{\"fine\":true}");
    source.write("/w/b", "{}");
    target.put("/w");
    target.put(
        "/w/_design/v",
        "{\"language\":\"query\",\"validate_doc_update\":{\"newDoc\":{\"fine\":true}}}");

    Answer answer =
        pulls
            ? replicate(remote(there, "w"), "\"w\"", "")
            : replicate("\"w\"", remote(there, "w"), "");

    assertThat(answer.body())
        .contains("\"missing_found\":2,\"docs_read\":2,\"docs_written\":1,")
        .contains("\"doc_write_failures\":1");
    target.get("/w/a").expect(200);
  }

  @Test
  void bad_requests_are_told_in_couchdbs_words() {
    here.put("/w");
    assertThat(here.post("/_replicate", "{}").body()).contains("Missing replicator database");
    assertThat(replicate("\"none\"", "\"w\"", "").body())
        .isEqualToIgnoringWhitespace(
            "{\"error\":\"db_not_found\",\"reason\":\"could not open none\"}");
    Answer absent = replicate(remote(there, "none"), "\"w\"", "").expect(404);
    assertThat(absent.body()).contains("could not open " + there.url() + "/none/");
    assertThat(replicate("\"w\"", "\"w\"", ",\"continuous\":1").body())
        .contains("parameter `continuous` must be a boolean");
    for (String url : List.of("http://", "http://127.0.0.1:65536/w")) {
      assertThat(replicate('"' + url + '"', "\"w\"", "").body())
          .contains("endpoint has an invalid url");
    }
  }

  @Test
  void what_is_told_of_a_server_that_is_not_reached_names_no_class() throws IOException {
    here.put("/w");
    String more = ",\"retries_per_request\":0";
    int closed;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closed = socket.getLocalPort();
    }
    String url = "http://127.0.0.1:" + closed + "/w/";

    Answer refused = replicate('"' + url + '"', "\"w\"", more);
    Answer plain = replicate(remote(there, "w").replace("http:", "https:"), "\"w\"", more);

    refused.expect(500);
    assertThat(refused.member("error")).isEqualTo("http_request_failed");
    assertThat(refused.member("reason")).isEqualTo("GET " + url + ": Connection refused");
    assertThat(plain.member("reason")).endsWith("/w/: The server does not speak TLS");
  }

  @Test
  void a_place_to_begin_that_no_database_here_has_is_refused() {
    here.put("/w");
    here.put("/copy");

    Answer answer = replicate("\"w\"", "\"copy\"", ",\"since_seq\":\"garbage\"").expect(400);
    assertThat(answer.body()).contains("Malformed sequence");
    replicate("\"w\"", "\"copy\"", ",\"since_seq\":\"0\"").expect(200);
  }

  @Test
  void a_stop_does_not_wait_until_all_changes_of_a_page_are_judged() {
    AtomicInteger ranges = new AtomicInteger();
    AtomicInteger last = new AtomicInteger(Integer.MAX_VALUE);
    AtomicReference<Runnable> stop = new AtomicReference<>();
    Store store =
        WrappedTransactions.beforeRanges(
            stores.fresh(),
            () -> {
              if (Thread.currentThread().getName().startsWith("lectus-replication-")
                  && ranges.incrementAndGet() == last.get()) {
                stop.get().run();
              }
            });
    try (LectusServer server = LectusServer.start(store)) {
      server.put("/w");
      server.put("/copy");
      List<String> docs = new ArrayList<>();
      for (int i = 0; i < 5_000; i++) {
        docs.add("{\"n\":" + i + "}");
      }
      server.post("/w/_bulk_docs", "{\"docs\":[" + String.join(",", docs) + "]}");
      String body =
          "{\"source\":\"w\",\"target\":\"copy\",\"continuous\":true,\"use_checkpoints\":false,"
              + "\"selector\":{\"n\":-1}}";
      String id = server.post("/_replicate", body).member("_local_id");
      stop.set(
          () -> server.post("/_replicate", "{\"cancel\":true,\"replication_id\":\"" + id + "\"}"));
      Await.until(
          "it has caught up",
          () -> server.get("/_active_tasks").body().contains("\"changes_pending\":0"));
      int all = ranges.get();
      stop.get().run();
      Await.until("it ends", () -> server.get("/_active_tasks").body().strip().equals("[]"));

      ranges.set(0);
      last.set(all / 2);
      server.post("/_replicate", body);
      Await.until("it ends", () -> ranges.get() >= last.get());
      Await.until("it ends", () -> server.get("/_active_tasks").body().strip().equals("[]"));

      assertThat(ranges.get()).isLessThan(all * 3 / 4);
    }
  }

  @Test
  void what_is_denied_is_not_asked() {
    try (LectusServer strict =
        LectusServer.start(
            stores.fresh(), new TestSettings().with(ReplicatorKeys.DENY, "127.0.0.0/8"))) {
      there.put("/w");
      strict.put("/w");
      Answer answer =
          strict
              .post("/_replicate", "{\"source\":" + remote(there, "w") + ",\"target\":\"w\"}")
              .expect(403);
      assertThat(answer.body()).contains("may not send requests to 127.0.0.1");
    }
  }
}
