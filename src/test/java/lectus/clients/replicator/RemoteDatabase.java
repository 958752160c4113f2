package lectus.clients.replicator;

import static lectus.clients.replicator.ReplicatorHttp.quoted;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import lectus.clients.replicator.ChangesFeed.Change;
import lectus.clients.replicator.MixedParts.Part;
import lectus.clients.replicator.ReplicatorHttp.Reply;

/**
 * The source or target of a replication: the requests of {@code couch_replicator_api_wrap}, each
 * with its expectations of the answer. What would crash it is an error here.
 */
final class RemoteDatabase {
  private static final Map<String, String> LAZY = Map.of("X-Couch-Full-Commit", "false");

  private final ReplicatorHttp http;

  private RemoteDatabase(ReplicatorHttp http) {
    this.http = http;
  }

  /**
   * @param url of a database that need not exist, with or without credentials
   */
  static RemoteDatabase at(String url) {
    return new RemoteDatabase(ReplicatorHttp.to(url));
  }

  /** Returns the URL without credentials. */
  String url() {
    return http.url();
  }

  Optional<String> session() {
    return http.session();
  }

  /**
   * A revision that a target lacks.
   *
   * @param ancestors leaves of the target that it may descend from
   */
  record Wanted(String id, String rev, List<String> ancestors) {}

  /** Accepts any answer, since the database may exist already. */
  void create() {
    http.put("");
  }

  /**
   * Returns its description; an answer without the members that a replication needs is an error.
   */
  JsonObject info() {
    JsonObject info = http.get("").expecting(200).object();
    assertThat(info.getString("update_seq")).isNotEmpty();
    assertThat(info.getString("instance_start_time")).isNotEmpty();
    return info;
  }

  /**
   * Returns the database's {@code instance_start_time}, which must not change while a replication
   * runs.
   */
  String ensureFullCommit() {
    return http.post("_ensure_full_commit")
        .expecting(201)
        .object()
        .getString("instance_start_time");
  }

  /** Returns the number of changes after that sequence. */
  long pending(String since) {
    return http.get("_changes?since=" + quoted(since) + "&limit=0")
        .expecting(200)
        .object()
        .getLong("pending");
  }

  ChangesFeed changes(ChangesQuery query, String since) {
    return new ChangesFeed(
        http.stream(query.method(), "_changes?" + query.text(since), query.body()));
  }

  /** Returns a document of this database alone. */
  Optional<ReplicatedDocument> open(String id) {
    Reply reply = http.get(path(id));
    if (reply.status() == 200) {
      return Optional.of(ReplicatedDocument.read(reply.object()));
    }
    assertThat(reply.object().getString("error")).as(reply.text()).isEqualTo("not_found");
    return Optional.empty();
  }

  /**
   * Saves a local document.
   *
   * @return the document with its new revision
   */
  ReplicatedDocument saveLocal(ReplicatedDocument document) {
    Reply reply = http.put(path(document.id()), LAZY, document.toJson().encode());
    assertThat(reply.status()).as(reply.text()).isBetween(200, 202);
    return document.saved(reply.object().getString("rev"));
  }

  /**
   * Saves a single revision, as for design documents; returns the error, empty if it was stored.
   */
  Optional<String> save(ReplicatedDocument document) {
    String path = path(document.id()) + "?new_edits=false";
    Reply reply =
        document.parts().isEmpty()
            ? http.put(path, Map.of(), document.toJson().encode())
            : http.putParts(path, RelatedBody.of(document));
    if (reply.status() == 200 || reply.status() == 201 || reply.status() == 202) {
      assertThat(reply.object().getString("rev")).isEqualTo(document.rev());
      return Optional.empty();
    }
    assertThat(reply.status()).as(reply.text()).isIn(401, 403, 413, 415);
    return Optional.of(reply.text());
  }

  /** Returns those of these leaves that the target lacks. */
  List<Wanted> missing(List<Change> changes) {
    JsonObject asked = new JsonObject();
    changes.forEach(change -> asked.put(change.id(), new JsonArray(change.revs())));
    JsonObject diff = http.post("_revs_diff", Map.of(), asked.encode()).expecting(200).object();
    List<Wanted> wanted = new ArrayList<>();
    diff.forEach(
        entry -> {
          JsonObject result = (JsonObject) entry.getValue();
          List<String> ancestors =
              ReplicatedDocument.strings(
                  result.getJsonArray("possible_ancestors", new JsonArray()));
          ReplicatedDocument.strings(result.getJsonArray("missing"))
              .forEach(rev -> wanted.add(new Wanted(entry.getKey(), rev, ancestors)));
        });
    return wanted;
  }

  /** Returns many revisions at once, leaving out those answered with anything but one document. */
  Map<Wanted, ReplicatedDocument> bulkGet(List<Wanted> wanted) {
    JsonArray asked = new JsonArray();
    for (Wanted one : wanted) {
      JsonArray ancestors = new JsonArray(one.ancestors());
      asked.add(
          new JsonObject().put("atts_since", ancestors).put("id", one.id()).put("rev", one.rev()));
    }
    JsonObject body =
        new JsonObject()
            .put("attachments", false)
            .put("docs", asked)
            .put("latest", true)
            .put("revs", true);
    JsonObject answer =
        http.post(
                "_bulk_get?latest=true&revs=true&attachments=false",
                Map.of("Accept", "application/json"),
                body.encode())
            .expecting(200)
            .object();
    assertThat(answer.fieldNames()).containsExactly("results");
    return documents(wanted, answer.getJsonArray("results"));
  }

  /** Results correspond to requests only by position. */
  private static Map<Wanted, ReplicatedDocument> documents(List<Wanted> wanted, JsonArray results) {
    assertThat(results).hasSameSizeAs(wanted);
    Map<Wanted, ReplicatedDocument> documents = new LinkedHashMap<>();
    for (int i = 0; i < wanted.size(); i++) {
      JsonObject result = results.getJsonObject(i);
      assertThat(result.getString("id")).isEqualTo(wanted.get(i).id());
      JsonArray docs = result.getJsonArray("docs");
      JsonObject found = docs.size() == 1 ? docs.getJsonObject(0).getJsonObject("ok") : null;
      // Those with attachments are fetched alone.
      if (found != null && !found.containsKey("_attachments")) {
        documents.put(wanted.get(i), ReplicatedDocument.read(found));
      }
    }
    return documents;
  }

  /** Returns one revision, or what replaced it; accepts only multipart. */
  List<ReplicatedDocument> openRevisions(Wanted wanted) {
    StringBuilder query = new StringBuilder();
    if (!wanted.ancestors().isEmpty()) {
      query.append("atts_since=").append(json(wanted.ancestors())).append('&');
    }
    query.append("revs=true&open_revs=").append(json(List.of(wanted.rev()))).append("&latest=true");
    Reply reply =
        http.get(path(wanted.id()) + '?' + query, Map.of("Accept", "multipart/mixed"))
            .expecting(200);
    String type = reply.headers().firstValue("Content-Type").orElseThrow();
    List<ReplicatedDocument> documents = new ArrayList<>();
    for (Part part : MixedParts.of(type, reply.body())) {
      documents.add(document(part));
    }
    return documents;
  }

  /** Returns the document of a part, with its attachments if they follow it. */
  private static ReplicatedDocument document(Part part) {
    if (part.type().equals("multipart/related")) {
      List<Part> inner = part.inner();
      assertThat(inner.get(0).type()).isEqualTo("application/json");
      List<byte[]> attachments = new ArrayList<>();
      for (Part attachment : inner.subList(1, inner.size())) {
        assertThat(attachment.headers()).containsKey("content-disposition");
        assertThat(attachment.headers().get("content-length").strip())
            .isEqualTo("" + attachment.bytes().length());
        attachments.add(attachment.content());
      }
      return ReplicatedDocument.read(new JsonObject(inner.get(0).body()), attachments);
    }
    assertThat(part.type()).as(part.body()).isEqualTo("application/json");
    assertThat(part.parameters()).as("of an existing revision: " + part.body()).isEmpty();
    return ReplicatedDocument.read(new JsonObject(part.body()));
  }

  /** The result of a batch at the target. */
  sealed interface Outcome permits Taken, TooLarge {}

  /**
   * All but some revisions were stored.
   *
   * @param refused rows with errors
   */
  record Taken(List<JsonObject> refused) implements Outcome {}

  /** The whole request was too large. */
  record TooLarge() implements Outcome {}

  /**
   * Saves revisions together.
   *
   * @param documents as JSON
   */
  Outcome saveAll(List<String> documents) {
    String body =
        documents.stream()
            .collect(Collectors.joining(",", "{\"new_edits\":false,\"docs\":[", "]}"));
    Reply reply = http.post("_bulk_docs", LAZY, body);
    if (reply.status() == 413) {
      return new TooLarge();
    }
    assertThat(reply.status()).as(reply.text()).isIn(201, 417);
    return new Taken(
        reply.array().stream()
            .map(JsonObject.class::cast)
            .filter(row -> row.containsKey("error"))
            .toList());
  }

  private static String json(List<String> revs) {
    return quoted(new JsonArray(revs).encode());
  }

  /**
   * Returns a document's path: the slash after {@code _design} and {@code _local} is not encoded.
   */
  static String path(String id) {
    if (id.startsWith("_design/") || id.startsWith("_local/")) {
      int slash = id.indexOf('/');
      return id.substring(0, slash + 1) + encoded(id.substring(slash + 1));
    }
    return encoded(id);
  }

  private static String encoded(String name) {
    return quoted(name).replace("+", "%20").replace("%3A", ":");
  }
}
