package lectus.clients.replicator;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;

/**
 * A revision of a document in CouchDB's replicator ({@code couch_doc}), parsed from a source's
 * answer and written anew for the target.
 *
 * @param start generation of the first of the hashes; 0 for local documents, and if there is none
 * @param hashes of the revision and its ancestors
 * @param attached what its attachments are, and the bytes of those that came with it
 * @param body without members that have a meaning to CouchDB
 */
record ReplicatedDocument(
    String id,
    int start,
    List<String> hashes,
    boolean deleted,
    JsonObject attached,
    List<byte[]> parts,
    JsonObject body) {
  private static final Set<String> IGNORED =
      Set.of("_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts");

  /** Returns a document that was never saved. */
  static ReplicatedDocument named(String id) {
    return new ReplicatedDocument(
        id, 0, List.of(), false, new JsonObject(), List.of(), new JsonObject());
  }

  /** Parses a database's answer; a member that CouchDB does not know is an error. */
  static ReplicatedDocument read(JsonObject json) {
    return read(json, List.of());
  }

  /** Parses a document whose attachments came behind it. */
  static ReplicatedDocument read(JsonObject json, List<byte[]> parts) {
    int start = 0;
    List<String> hashes = List.of();
    JsonObject body = new JsonObject();
    for (Map.Entry<String, Object> member : json) {
      String name = member.getKey();
      if (!name.startsWith("_")) {
        body.put(name, member.getValue());
      } else if (name.equals("_revisions")) {
        start = ((JsonObject) member.getValue()).getInteger("start");
        hashes = strings(((JsonObject) member.getValue()).getJsonArray("ids"));
      } else if (name.equals("_rev") && hashes.isEmpty()) {
        String rev = (String) member.getValue();
        start = Integer.parseInt(rev.substring(0, rev.indexOf('-')));
        hashes = List.of(rev.substring(rev.indexOf('-') + 1));
      } else if (!Set.of("_id", "_rev", "_deleted", "_attachments").contains(name)
          && !IGNORED.contains(name)) {
        throw new AssertionError("Bad special document member: " + name);
      }
    }
    int generation = start;
    return new ReplicatedDocument(
        json.getString("_id"),
        start,
        hashes.stream().map(hash -> stored(generation, hash)).toList(),
        json.getBoolean("_deleted", false),
        json.getJsonObject("_attachments", new JsonObject()),
        parts,
        body);
  }

  /** Hashes of 32 digits are stored as 16 bytes, so they are printed in lower case. */
  private static String stored(int start, String hash) {
    if (start == 0 || hash.length() != 32) {
      return hash;
    }
    if (!hash.matches("[0-9A-Fa-f]*")) {
      throw new AssertionError("RevId isn't a valid hexadecimal: " + hash);
    }
    return hash.toLowerCase(Locale.ROOT);
  }

  boolean isDesign() {
    return isDesign(id);
  }

  static boolean isDesign(String id) {
    return id.startsWith("_design/");
  }

  String rev() {
    return start + "-" + hashes.get(0);
  }

  ReplicatedDocument withBody(JsonObject other) {
    return new ReplicatedDocument(id, start, hashes, deleted, attached, parts, other);
  }

  /** Returns the document after it was saved as this revision. */
  ReplicatedDocument saved(String rev) {
    int dash = rev.indexOf('-');
    return new ReplicatedDocument(
        id,
        Integer.parseInt(rev.substring(0, dash)),
        List.of(rev.substring(dash + 1)),
        deleted,
        attached,
        parts,
        body);
  }

  /** Includes {@code _revisions}, in CouchDB's order of members. */
  JsonObject toJson() {
    JsonObject json = new JsonObject().put("_id", id);
    if (!hashes.isEmpty()) {
      json.put("_rev", rev());
    }
    body.forEach(member -> json.put(member.getKey(), member.getValue()));
    if (deleted) {
      json.put("_deleted", true);
    }
    if (!hashes.isEmpty()) {
      json.put(
          "_revisions", new JsonObject().put("start", start).put("ids", new JsonArray(hashes)));
    }
    if (hasAttachments()) {
      json.put("_attachments", attached);
    }
    return json;
  }

  boolean hasAttachments() {
    return !attached.isEmpty();
  }

  static List<String> strings(JsonArray array) {
    return array.stream().map(String.class::cast).collect(Collectors.toList());
  }

  /** Everything that replication has to make equal. */
  static final class Leaves {
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
      Answer changes = server.get('/' + database + "/_changes?style=all_docs").expect(200);
      return new JsonObject(changes.body()).getJsonArray("results");
    }

    private static String id(Object row) {
      return ((JsonObject) row).getString("id");
    }
  }
}
