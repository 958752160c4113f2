package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.TreeMap;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;

/** Everything that replication has to make equal. */
final class Leaves {
  private Leaves() {}

  /**
   * Returns each document's leaves by id, the winner first, with their bodies and histories,
   * including tombstones and design documents.
   */
  static Map<String, JsonArray> of(LectusServer server, String database) {
    return of(server, database, "revs=true");
  }

  /** The same, with the bytes of attachments and how they are stored. */
  static Map<String, JsonArray> withAttachments(LectusServer server, String database) {
    return of(server, database, "revs=true&attachments=true&att_encoding_info=true");
  }

  private static Map<String, JsonArray> of(LectusServer server, String database, String how) {
    JsonArray asked = new JsonArray();
    rows(server, database).forEach(row -> asked.add(new JsonObject().put("id", id(row))));
    Answer answer =
        server.post(
            '/' + database + "/_bulk_get?" + how, new JsonObject().put("docs", asked).encode());
    assertThat(answer.status()).as("%.200s", answer.body()).isEqualTo(200);
    Map<String, JsonArray> leaves = new TreeMap<>();
    for (Object result : new JsonObject(answer.body()).getJsonArray("results")) {
      JsonArray docs = ((JsonObject) result).getJsonArray("docs");
      docs.forEach(doc -> assertThat(((JsonObject) doc).fieldNames()).containsExactly("ok"));
      leaves.put(id(result), docs);
    }
    return leaves;
  }

  private static JsonArray rows(LectusServer server, String database) {
    Answer changes = server.get('/' + database + "/_changes?style=all_docs");
    assertThat(changes.status()).isEqualTo(200);
    return new JsonObject(changes.body()).getJsonArray("results");
  }

  private static String id(Object row) {
    return ((JsonObject) row).getString("id");
  }
}
