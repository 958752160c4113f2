package lectus.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import lectus.Lectus;
import lectus.audit.testing.SoundStore;
import lectus.cli.Console;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * PouchDB Server at the other end of {@code lectus import}, {@code lectus compare} and of
 * replications.
 */
final class PouchServerTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int DOCUMENTS = Integer.getInteger("lectus.test.imported-documents", 1_000);
  private static final int AT_ONCE = 1_000;

  private static final int REPLICATED = 600;

  /** Every so many documents have a conflict, are deleted, or have an attachment. */
  private static final int WITH_CONFLICT = 7;

  private static final int DELETED = 11;
  private static final int WITH_ATTACHMENT = 50;

  private static final int REPLICATED_LEAVES = leaves(REPLICATED);

  private final LectusServer here = LectusServer.start(stores.fresh());
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Process pouch;
  private int there;

  @BeforeEach
  void start(@TempDir Path folder) throws IOException, InterruptedException {
    Path server =
        NodeClients.install(
            Path.of("src", "test", "pouchdb-server"), Path.of("target", "pouchdb-server"));
    pouch =
        new ProcessBuilder("node", "server.mjs", folder.resolve("log").toString())
            .directory(server.toFile())
            .redirectError(folder.resolve("err").toFile())
            .start();
    BufferedReader lines = pouch.inputReader();
    there = Integer.parseInt(String.valueOf(lines.readLine()));
  }

  @AfterEach
  void stop() throws InterruptedException {
    here.close();
    if (pouch != null) {
      pouch.destroyForcibly().waitFor();
    }
  }

  private String pouchUrl() {
    return "http://127.0.0.1:" + there;
  }

  private int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Lectus.run(args, Map.of(), new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private int compare() {
    return run("compare", "w", "--url", here.url(), "--with", pouchUrl() + "/w");
  }

  /** Writes revisions as a replicator does. */
  private static void write(int port, List<String> documents) {
    String body = "{\"new_edits\":false,\"docs\":[" + String.join(",", documents) + "]}";
    new Request(port, "POST", "/w/_bulk_docs").json(body).send().expect(201);
  }

  /**
   * @param more members, each behind a comma
   */
  private static String document(String id, int generation, String hash, String more) {
    String ancestors = generation == 1 ? "" : ",\"" + "a".repeat(32) + "\"";
    return "{\"_id\":\"%s\",\"_rev\":\"%d-%s\",\"_revisions\":{\"start\":%d,\"ids\":[\"%s\"%s]}%s}"
        .formatted(id, generation, hash, generation, hash, ancestors, more);
  }

  /** PouchDB Server takes the generation for {@code revpos}, whatever it is told. */
  private static String attachment(int generation, String type, String content) {
    return ",\"_attachments\":{\"a.txt\":{\"content_type\":\"%s\",\"revpos\":%d,\"data\":\"%s\"}}"
        .formatted(
            type,
            generation,
            Base64.getEncoder().encodeToString(content.getBytes(StandardCharsets.US_ASCII)));
  }

  private static int leaves(int documents) {
    return documents + every(WITH_CONFLICT, documents) + every(DELETED, documents);
  }

  private static int every(int step, int documents) {
    return (documents + step - 1) / step;
  }

  private static void fill(int port, int count) {
    new Request(port, "PUT", "/w").send().expect(201);
    List<String> documents = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String id = "d" + i;
      String more = ",\"n\":" + i + ",\"f\":1.5,\"deep\":{\"list\":[null,true,\"\\u00e4\"]}";
      if (i % WITH_ATTACHMENT == 0) {
        more += attachment(2, "text/plain", "content of " + i);
      }
      documents.add(document(id, 2, "b".repeat(32), more));
      if (i % WITH_CONFLICT == 0) {
        documents.add(document(id, 2, "c".repeat(32), ",\"other\":" + i));
      }
      if (i % DELETED == 0) {
        documents.add(document("gone" + i, 2, "d".repeat(32), ",\"_deleted\":true"));
      }
      if (documents.size() >= AT_ONCE) {
        write(port, documents);
        documents.clear();
      }
    }
    write(port, documents);
  }

  @Test
  void everything_comes_and_ten_differences_are_found() {
    fill(there, DOCUMENTS);

    assertThat(run("import", pouchUrl(), "--url", here.url())).as("%s%s", out, err).isZero();
    assertThat(out.toString())
        .containsPattern("w +%d +%d +0\n".formatted(DOCUMENTS, leaves(DOCUMENTS)));
    assertThat(compare()).as("%s%s", out, err).isZero();
    assertThat(out.toString()).isEqualTo("w: " + leaves(DOCUMENTS) + " leaves, the same\n");

    List<String> planted = plant();
    assertThat(compare()).isOne();
    assertThat(out.toString().lines()).hasSize(planted.size() + 1);
    for (String each : planted) {
      assertThat(out.toString()).contains(each);
    }

    assertThat(run("import", pouchUrl(), "--url", here.url())).isZero();
    here.get("/w/only-there").expect(200);
  }

  private void replicate(String source, String target, int written) {
    Answer answer =
        here.post(
            "/_replicate",
            "{\"source\":\"%s\",\"target\":\"%s\",\"create_target\":true}"
                .formatted(source, target));
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.body())
        .contains("\"docs_written\":" + written + ",\"doc_write_failures\":0,");
    assertThat(compare()).as("%s%s", out, err).isZero();
    assertThat(out.toString()).isEqualTo("w: " + written + " leaves, the same\n");
  }

  @Test
  void a_replication_from_it_goes_on_from_its_checkpoint() {
    fill(there, REPLICATED);
    replicate(pouchUrl() + "/w", "w", REPLICATED_LEAVES);
    write(there, List.of(document("later", 1, "e".repeat(32), attachment(1, "text/plain", "abc"))));

    replicate(pouchUrl() + "/w", "w", REPLICATED_LEAVES + 1);
  }

  @Test
  void a_replication_to_it_goes_on_from_its_checkpoint() {
    fill(here.port(), REPLICATED);
    replicate("w", pouchUrl() + "/w", REPLICATED_LEAVES);
    write(here.port(), List.of(document("later", 1, "e".repeat(32), ",\"n\":1")));

    replicate("w", pouchUrl() + "/w", REPLICATED_LEAVES + 1);
  }

  /** Returns the lines of what differs. */
  private List<String> plant() {
    String e = "e".repeat(32);
    write(here.port(), List.of(document("only-here", 1, e, "")));
    write(there, List.of(document("only-there", 1, e, "")));
    write(here.port(), List.of(document("d1", 2, e, ",\"a\":\"leaf\"")));
    write(there, List.of(document("d2", 3, e, ",\"_deleted\":true")));
    plant("body", ",\"x\":{\"y\":[1,2]}", ",\"x\":{\"y\":[1,3]}");
    plant("member", ",\"x\":1,\"y\":null", ",\"x\":1");
    plant("deleted", "", ",\"_deleted\":true");
    plant("bytes", attachment(1, "text/plain", "abc"), attachment(1, "text/plain", "abd"));
    plant("type", attachment(1, "text/plain", "abc"), attachment(1, "text/html", "abc"));
    write(here.port(), List.of(document("history", 2, e, "")));
    write(there, List.of(document("history", 2, e, "").replace("a".repeat(32), "f".repeat(32))));
    return List.of(
        "only-here 1-" + e + ": is missing in",
        "only-there 1-" + e + ": is missing in",
        "d1 2-" + e + ": is missing in " + pouchUrl(),
        "d2 3-" + e + ": is missing in " + here.url(),
        "body 1-" + e + ": x.y[1] differs",
        "member 1-" + e + ": y differs",
        "deleted 1-" + e + ": _deleted differs",
        "bytes 1-" + e + ": the attachment a.txt differs",
        "type 1-" + e + ": the attachment a.txt differs",
        "history 2-" + e + ": the history differs");
  }

  /** Writes the same revision with other content to each. */
  private void plant(String id, String inLectus, String inPouch) {
    write(here.port(), List.of(document(id, 1, "e".repeat(32), inLectus)));
    write(there, List.of(document(id, 1, "e".repeat(32), inPouch)));
  }
}
