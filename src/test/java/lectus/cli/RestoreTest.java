package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import lectus.Lectus;
import lectus.account.Admins;
import lectus.attachment.SweptStore;
import lectus.audit.testing.SoundStore;
import lectus.config.DocumentKeys;
import lectus.http.testing.LectusServer;
import lectus.http.testing.TestSettings;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Backups of a server that is in use, and the way back. */
final class RestoreTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int DOCUMENTS = 3_000;

  /** So that a slow backup, which waits for no end of the writes, has not ever more to do. */
  private static final int MOST_WRITES = 2_000;

  /** Every so many documents have a second leaf. */
  private static final int WITH_CONFLICT = 3;

  private static final int WITH_ATTACHMENT = 10;

  @TempDir private Path folder;

  private final Store store = stores.fresh();
  @AutoClose private final LectusServer server = LectusServer.start(store);
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private Path backups() {
    return folder.resolve("backups");
  }

  private void run(String... args) {
    assertThat(status(args)).as("%s%s", out, err).isZero();
  }

  private int status(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Lectus.run(args, Map.of(), new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private void backup() {
    run("backup", "--all", "--url", server.url(), "--to", backups().toString());
  }

  private static void fill(LectusServer server, String database) {
    server.put("/" + database);
    List<String> documents = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      documents.add(document(i, "b", ",\"text\":\"" + "x".repeat(i % 1_000) + "\""));
      if (i % WITH_CONFLICT == 0) {
        documents.add(document(i, "c", attachment(i)));
      }
    }
    server.post(
        "/" + database + "/_bulk_docs",
        "{\"new_edits\":false,\"docs\":[" + String.join(",", documents) + "]}");
    server.write("/" + database + "/_local/mine", "{\"l\":1}");
    server.put("/" + database + "/_security", "{\"members\":{\"roles\":[\"team\"]}}");
    server.post("/" + database + "/_index", "{\"index\":{\"fields\":[\"n\"]}}");
    server.write(
        "/" + database + "/_design/d",
        "{\"views\":{\"v\":{\"map\":\"function(d){emit(d.n)}\",\"reduce\":\"_count\"}}}");
  }

  private static String document(int number, String hash, String more) {
    return "{\"_id\":\"d%d\",\"_rev\":\"2-%s\",\"_revisions\":{\"start\":2,\"ids\":[\"%s\",\"a\"]},\"n\":%d%s}"
        .formatted(number, hash, hash, number, more);
  }

  private static String attachment(int number) {
    return number % WITH_ATTACHMENT > 0
        ? ""
        : ",\"_attachments\":{\"a\":{\"content_type\":\"text/plain\",\"data\":\""
            + Base64.getEncoder()
                .encodeToString(("content " + number).getBytes(StandardCharsets.US_ASCII))
            + "\"}}";
  }

  private void assertSame(String one, String other) {
    run("compare", one, "--url", server.url(), "--with", server.url() + "/" + other);
    String all = "/_changes?style=all_docs";
    server.get("/" + other + all).expect(server.get("/" + one + all).body());
    server.get("/" + other + "/_local/mine").expect(server.get("/" + one + "/_local/mine").body());
    String view = "/_design/d/_view/v";
    server.get("/" + other + view).expect(server.get("/" + one + view).body());
    assertThat(server.post("/" + other + "/_find", "{\"selector\":{\"n\":7}}").body())
        .contains("\"_id\":\"d7\"")
        .doesNotContain("warning");
  }

  @Test
  void a_database_comes_back_as_it_was_at_each_backup() throws IOException {
    fill(server, "notes");
    server.put("/other%2Fone");
    backup();
    server.write("/notes/new", "{\"n\":-1}");
    String gone = server.get("/notes/d4").member("_rev");
    server.delete("/notes/d4?rev=" + gone);
    server.post("/notes/_purge", "{\"d5\":[\"2-b\"]}");
    server.write("/notes/_local/mine", "{\"l\":2,\"_rev\":\"0-1\"}");
    backup();
    assertThat(out.toString()).contains("notes: an increment up to ");

    run("restore", backups().toString(), "notes", "--url", server.url(), "--as", "copy");
    assertSame("notes", "copy");
    server.get("/copy/d5").expect(404);

    run("verify", backups().toString());
    String first =
        out.toString().lines().filter(it -> it.contains("notes 000001")).findFirst().orElseThrow();
    String at = first.replaceFirst(".*whole +(\\S+) .*", "$1");
    String from = backups().resolve("notes").toString();
    run("restore", from, "--url", server.url(), "--as", "before", "--at", at);
    server.get("/before/d5").expect(200);
    server.get("/before/new").expect(404);

    server.delete("/notes");
    run("restore", backups().toString(), "notes", "--url", server.url());
    assertSame("copy", "notes");
    // It goes on with a new chain, because the former one is of another life.
    server.write("/notes/later", "{}");
    backup();
    assertThat(out.toString()).contains("notes: the whole again, because", "notes: the whole up");
    run("verify", backups().toString());
  }

  private String attach(String document, byte[] bytes) {
    return server
        .request("PUT", "/db/" + document, "Content-Type", "image/x")
        .body(bytes)
        .send()
        .member("rev");
  }

  private void assertSaved(int number, int least, int most) throws IOException {
    backup();
    assertThat(Files.size(backups().resolve("db/00000" + number + ".image")))
        .isBetween((long) least, (long) most);
    run("restore", backups() + "/db", "--url", server.url(), "--as", "copy" + number);
    assertSameAttachments("db", "copy" + number);
  }

  private void assertSameAttachments(String one, String other) {
    run("compare", one, "--url", server.url(), "--with", server.url() + "/" + other);
  }

  @Test
  void an_attachment_that_an_image_has_is_not_in_those_behind_it() throws IOException {
    byte[] some = new byte[300_000];
    byte[] others = new byte[200_000];
    new Random(1).nextBytes(some);
    new Random(2).nextBytes(others);
    server.put("/db");
    String a = attach("a/f", some);
    String kept = attach("k/f", Arrays.copyOf(others, 10));
    assertSaved(1, some.length, some.length + 20_000);

    String b = attach("b/g", some);
    server.put("/db/k/more?rev=" + kept, "more");
    assertSaved(2, 0, 20_000);

    server.delete("/db/a?rev=" + a);
    server.delete("/db/b?rev=" + b);
    SweptStore.sweep(store);
    assertSaved(3, 0, 20_000);

    attach("c/h", some);
    attach("d/x", others);
    // As in a folder of an earlier version, or one that was copied without.
    Files.delete(backups().resolve("db/000001.contents"));
    assertSaved(4, others.length, others.length + 20_000);
    assertThat(backups().resolve("db/000001.contents")).hasSize(3 * 32);

    attach("e/x", others);
    Files.write(backups().resolve("db/000004.contents"), new byte[64]);
    assertSaved(5, 0, 20_000);

    run("verify", backups().toString());
    String second =
        out.toString().lines().filter(it -> it.contains("db 000002")).findFirst().orElseThrow();
    String at = second.replaceFirst(".*increment +(\\S+) .*", "$1");
    String from = backups().resolve("db").toString();
    run("restore", from, "--url", server.url(), "--as", "before", "--at", at);
    assertSameAttachments("copy2", "before");
  }

  @Test
  void a_database_that_came_back_after_its_deletion_is_saved_further() {
    TestSettings keeping = new TestSettings().with(DocumentKeys.KEEP_DELETED_SECONDS, 3_600);
    try (LectusServer kept = LectusServer.start(stores.fresh(), keeping)) {
      String[] backup = {"backup", "notes", "--url", kept.url(), "--to", backups().toString()};
      kept.put("/notes");
      kept.write("/notes/a", "{}");
      run(backup);
      kept.delete("/notes");
      String timestamp = kept.get("/_deleted_dbs").member("timestamp");
      kept.post(
          "/_deleted_dbs",
          "{\"undelete\":{\"source\":\"notes\",\"timestamp\":\"" + timestamp + "\"}}");
      kept.write("/notes/b", "{}");
      run(backup);
      run("verify", backups().toString());
      run("restore", backups().toString(), "--url", kept.url(), "--as", "copy");
      run("compare", "notes", "--url", kept.url(), "--with", kept.url() + "/copy");
      assertThat(out.toString()).isEqualTo("notes: 2 leaves, the same\n");
    }
  }

  /** What its client has written since then would be passed over. */
  @Test
  void a_replication_that_was_under_way_begins_another_session() {
    String checkpoint = "{\"history\":[%s{\"session_id\":\"s1\",\"last_seq\":4}]%s}";
    String former = checkpoint.formatted("", ",\"restored_session\":\"s2\"");
    server.put("/notes");
    server.write(
        "/notes/_local/c",
        checkpoint.formatted(
            "{\"session_id\":\"s2\",\"last_seq\":9},", ",\"session_id\":\"s2\",\"last_seq\":9"));
    server.write("/notes/_local/n", "{\"session_id\":\"s2\",\"history\":1}");
    backup();
    run("restore", backups().toString(), "--url", server.url(), "--as", "copy");

    server
        .get("/copy/_local/c")
        .expect(
            "{\"_id\":\"_local/c\",\"_rev\":\"0-1\",\"history\":[{\"session_id\":\"s1\",\"last_seq\":4}],\"last_seq\":9,\"restored_session\":\"s2\"}\n");
    server.get("/copy/_local/n").expect(server.get("/notes/_local/n").body());
    run("compare", "notes", "--local", "--url", server.url(), "--with", server.url() + "/copy");
    // PouchDB keeps members that it does not know.
    String over =
        former.replace("[", "[{\"session_id\":\"s2\"},").replace("}]", "}],\"session_id\":\"s2\"");
    server.put("/copy/_local/c", over).expect(412);
    server
        .put("/copy/_local/c", over.replace("\"session_id\":\"s2\"", "\"session_id\":\"s3\""))
        .expect(201);
  }

  @Test
  void writers_go_on_meanwhile() {
    fill(server, "notes");
    AtomicBoolean ended = new AtomicBoolean();
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < MOST_WRITES && !ended.get(); i++) {
                server.write("/notes/w" + i, "{\"n\":1}");
              }
            });
    backup();
    backup();
    ended.set(true);
    writer.join();
    backup();

    run("restore", backups().toString(), "notes", "--url", server.url(), "--as", "copy");
    assertSame("notes", "copy");
  }

  @Test
  void a_stopped_store_is_saved_and_filled_without_a_server() {
    TestStores.onlyEmbedded();
    Path data = folder.resolve("data");
    try (Store store = EmbeddedStores.open(data);
        LectusServer first = LectusServer.start(store)) {
      fill(first, "notes");
      new Admins(store).put("root", Admins.hashOf("secret", 10));
    }
    run("backup", "--all", "--data", data.toString(), "--to", backups().toString());
    run("restore", backups().toString(), "--data", data.toString(), "--as", "copy");
    run("check", "--data", data.toString());
    assertThat(out.toString()).startsWith("Sound: 2 databases");
    run("restore", backups().toString(), "--url", server.url());
    assertThat(server.get("/notes").body()).contains("\"doc_count\":3002");
  }
}
