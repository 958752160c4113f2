package lectus.clients.replicator;

import static lectus.clients.replicator.ReplicatorHttp.quoted;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import lectus.clients.replicator.RemoteDatabase.ChangesFeed.Change;
import lectus.clients.replicator.RemoteDatabase.MixedParts.Part;
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

  /**
   * A body of {@code multipart/mixed}, split like {@code couch_httpd:parse_multipart_request}: the
   * first boundary begins a line or the body; others are preceded by a line end that belongs to
   * them; a boundary followed by two hyphens is the end.
   */
  static final class MixedParts {
    private final String text;
    private final String boundary;

    /** One character per byte. */
    private int position;

    private MixedParts(byte[] body, String boundary) {
      this.text = new String(body, StandardCharsets.ISO_8859_1);
      this.boundary = boundary;
    }

    /**
     * @param type the part's own {@code Content-Type}, without its parameters
     * @param parameters of that type, without quotes
     * @param headers by name in lower case
     * @param bytes one character for each
     */
    record Part(
        String type, Map<String, String> parameters, Map<String, String> headers, String bytes) {
      String body() {
        return utf8(bytes);
      }

      byte[] content() {
        return bytes.getBytes(StandardCharsets.ISO_8859_1);
      }

      /** Returns the parts of a part that has several. */
      List<Part> inner() {
        return new MixedParts(content(), parameters.get("boundary")).parts();
      }
    }

    static List<Part> of(String contentType, byte[] body) {
      Part head = header(contentType, Map.of(), "");
      if (!head.type().startsWith("multipart/")) {
        throw new AssertionError("Not multipart: " + contentType);
      }
      return new MixedParts(body, head.parameters().get("boundary")).parts();
    }

    private List<Part> parts() {
      List<Part> parts = new ArrayList<>();
      upTo("--" + boundary);
      do {
        Map<String, String> headers = headers(upTo("\r\n\r\n"));
        String body = upTo("\r\n--" + boundary);
        parts.add(header(headers.getOrDefault("content-type", ""), headers, body));
      } while (!text.startsWith("--", position));
      return parts;
    }

    /** Returns what precedes the next such mark, and continues after the mark. */
    private String upTo(String mark) {
      int end = text.indexOf(mark, position);
      if (end < 0) {
        throw new AssertionError("No " + mark + " behind byte " + position);
      }
      String before = text.substring(position, end);
      position = end + mark.length();
      return before;
    }

    private static Map<String, String> headers(String lines) {
      Map<String, String> headers = new LinkedHashMap<>();
      for (String line : lines.split("\r\n", -1)) {
        if (!line.isEmpty()) {
          int colon = line.indexOf(':');
          headers.put(
              line.substring(0, colon).strip().toLowerCase(Locale.ROOT), line.substring(colon + 1));
        }
      }
      return headers;
    }

    private static Part header(String value, Map<String, String> headers, String body) {
      String[] words = value.split(";", -1);
      Map<String, String> parameters = new LinkedHashMap<>();
      for (int i = 1; i < words.length; i++) {
        String[] parameter = words[i].strip().split("=", 2);
        parameters.put(parameter[0].toLowerCase(Locale.ROOT), parameter[1].replace("\"", ""));
      }
      return new Part(words[0].strip().toLowerCase(Locale.ROOT), parameters, headers, body);
    }

    private static String utf8(String bytes) {
      return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
  }

  /** A document with its attachments as {@code couch_httpd_multipart:encode_multipart_stream}. */
  record RelatedBody(String contentType, byte[] bytes) {
    private static final String BOUNDARY = "5d41402abc4b2a76b9719d911017c592";
    private static final String DELIMITER = "\r\n--" + BOUNDARY;

    static RelatedBody of(ReplicatedDocument document) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      write(out, "--" + BOUNDARY + "\r\nContent-Type: application/json\r\n\r\n");
      write(out, document.toJson().encode() + DELIMITER);
      Iterator<byte[]> parts = document.parts().iterator();
      for (Map.Entry<String, Object> entry : document.attached()) {
        JsonObject attachment = (JsonObject) entry.getValue();
        if (attachment.getBoolean("follows", false)) {
          byte[] bytes = parts.next();
          write(out, head(entry.getKey(), attachment, bytes.length));
          out.writeBytes(bytes);
          write(out, DELIMITER);
        }
      }
      write(out, "--");
      return new RelatedBody("multipart/related; boundary=\"" + BOUNDARY + '"', out.toByteArray());
    }

    private static String head(String name, JsonObject attachment, int length) {
      String encoding = attachment.getString("encoding");
      return "\r\nContent-Disposition: attachment; filename=\""
          + name
          + "\"\r\nContent-Type: "
          + attachment.getString("content_type")
          + "\r\nContent-Length: "
          + length
          + (encoding == null ? "" : "\r\nContent-Encoding: " + encoding)
          + "\r\n\r\n";
    }

    private static void write(ByteArrayOutputStream out, String text) {
      out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** A running {@code _changes} request, read line by line. */
  static final class ChangesFeed implements AutoCloseable {
    private final BufferedReader lines;

    ChangesFeed(InputStream body) {
      lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    /** The content of a feed's line. */
    sealed interface Line permits Change, LastSeq {}

    /**
     * A row.
     *
     * @param revs the leaves
     */
    record Change(String id, String seq, List<String> revs) implements Line {}

    /** The end of a feed in order. */
    record LastSeq(String seq) implements Line {}

    /** Returns the next line with content; empty at the feed's end. */
    Optional<Line> next() {
      try {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.startsWith("{\"seq\"")) {
            return Optional.of(change(line.endsWith(",") ? cut(line) : line));
          } else if (line.startsWith("{\"last_seq\"")) {
            return Optional.of(new LastSeq(new JsonObject(line).getString("last_seq")));
          } else if (line.startsWith("\"last_seq\"")) {
            return Optional.of(new LastSeq(new JsonObject('{' + line).getString("last_seq")));
          }
        }
        return Optional.empty();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String cut(String line) {
      return line.substring(0, line.length() - 1);
    }

    private static Change change(String line) {
      JsonObject row = new JsonObject(line);
      JsonArray changes = row.getJsonArray("changes");
      List<String> revs =
          changes.stream().map(change -> ((JsonObject) change).getString("rev")).toList();
      return new Change(row.getString("id"), row.getString("seq"), revs);
    }

    @Override
    public void close() {
      try {
        lines.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * The changes that a replication requests ({@code couch_replicator_api_wrap:changes_since}).
   *
   * @param filter the name of a filter; empty: none
   * @param body the filter's argument
   * @param timeoutMillis time after which a continuous feed without changes ends
   */
  record ChangesQuery(boolean continuous, String filter, Optional<String> body, int timeoutMillis) {
    /** A third of the replicator's {@code connection_timeout}. */
    private static final int TIMEOUT_MILLIS = 10_000;

    /** The shortest timeout that it requests. */
    private static final int SHORT_TIMEOUT_MILLIS = 1_000;

    /** Returns a query of all existing changes. */
    static ChangesQuery once() {
      return new ChangesQuery(false, "", Optional.empty(), TIMEOUT_MILLIS);
    }

    /** Returns a query of all existing and future changes. */
    static ChangesQuery continuously() {
      return new ChangesQuery(true, "", Optional.empty(), SHORT_TIMEOUT_MILLIS);
    }

    static ChangesQuery ofDocuments(List<String> ids) {
      String body = new JsonObject().put("doc_ids", new JsonArray(ids)).encode();
      return new ChangesQuery(false, "_doc_ids", Optional.of(body), TIMEOUT_MILLIS);
    }

    static ChangesQuery ofSelector(JsonObject selector) {
      String body = new JsonObject().put("selector", selector).encode();
      return new ChangesQuery(false, "_selector", Optional.of(body), TIMEOUT_MILLIS);
    }

    String method() {
      return body.isPresent() ? "POST" : "GET";
    }

    String text(String since) {
      return (filter.isEmpty() ? "" : "filter=" + filter + '&')
          + "feed="
          + (continuous ? "continuous" : "normal")
          + "&style=all_docs&since="
          + quoted(since)
          + "&timeout="
          + timeoutMillis;
    }
  }
}
