package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;

/** Documents of every kind that a replication may encounter. */
final class VariedContent {
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
    JsonObject body = new JsonObject().put("new_edits", newEdits).put("docs", new JsonArray(docs));
    Answer answer = server.post(database + "/_bulk_docs", body.encode());
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    assertThat(answer.body()).doesNotContain("\"error\"");
  }

  private void put(String path, String json) {
    Answer answer = server.put(database + '/' + path.replace(" ", "%20"), json);
    assertThat(answer.status()).as(answer.body()).isBetween(200, 201);
  }

  private void delete(String id) {
    assertThat(server.delete(database + '/' + id + "?rev=" + rev(id)).status()).isEqualTo(200);
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
