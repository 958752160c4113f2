package lectus.replication;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;
import lectus.attachment.Digests;
import lectus.http.client.CouchClient;
import lectus.http.client.CouchClient.JsonAnswer;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.http.client.HttpAnswer;
import lectus.http.client.HttpCall.CallBody;
import lectus.http.client.HttpCaller;
import lectus.http.client.RemoteAddress;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.BatchCopy.Wanted;
import lectus.replication.ReplicationRequest.Choice;
import lectus.replication.ReplicationRequest.Options;
import lectus.replication.SentDocument.Following;

/** A database of another server, behind HTTP. */
public final class RemoteDatabase implements Source, Target {
  /** Errors of a document that no repetition removes. */
  private static final Set<String> FOR_GOOD =
      Set.of(
          "forbidden",
          "unauthorized",
          "bad_request",
          "doc_validation",
          "illegal_docid",
          "document_too_large",
          "attachment_too_large",
          "content_md5_mismatch",
          "request_entity_too_large",
          "too_large",
          Refusal.MISSING_STUB);

  private static final int READ_AT_ONCE = 32 << 10;
  private static final int OK = 200;
  private static final int PRECONDITION_FAILED = 412;
  private static final int TOO_LARGE = 413;
  private static final int BAD_TYPE = 415;

  private final CouchClient client;
  private final Choice choice;
  private final Options options;
  private final Runnable admission;
  private volatile boolean lacksBulkGet;

  /** What the server says of itself; empty: nobody has asked. */
  private volatile Optional<JsonObject> welcome = Optional.empty();

  private volatile Optional<JsonArray> features = Optional.empty();

  /**
   * @param choice which changes are asked for
   * @param isStopped whether nobody wants an answer any more
   */
  public RemoteDatabase(
      HttpCaller caller,
      RemoteAddress address,
      Choice choice,
      Options options,
      BooleanSupplier isStopped) {
    this(caller, address, choice, options, isStopped, () -> {});
  }

  /**
   * @param admission throws what ends the replication before its next changes or checkpoint
   */
  RemoteDatabase(
      HttpCaller caller,
      RemoteAddress address,
      Choice choice,
      Options options,
      BooleanSupplier isStopped,
      Runnable admission) {
    this.admission = admission;
    this.client =
        new CouchClient(
            caller,
            address,
            options.retries(),
            Duration.ofMillis(options.patienceMillis()),
            isStopped);
    this.choice = choice;
    this.options = options;
  }

  /** Returns all of a database, as it is read without a replication. */
  public static RemoteDatabase whole(HttpCaller caller, RemoteAddress address) {
    return new RemoteDatabase(
        caller, address, new Choice.Everything(), ReplicationRequest.usual(), () -> false);
  }

  @Override
  public String shown() {
    return client.address().url().toString();
  }

  @Override
  public JsonObject info() {
    JsonAnswer answer = client.json("GET", "", Optional.empty());
    requireRight(answer);
    if (answer.isOk()
        && answer.json() instanceof JsonObject info
        && info.get("update_seq").isPresent()
        && info.get("instance_start_time").isPresent()) {
      return info;
    }
    throw new ReplicationFailure(
        ReplicationFailure.NOT_FOUND, "db_not_found", "could not open " + shown());
  }

  private void requireRight(JsonAnswer answer) {
    if (answer.status() == ReplicationFailure.UNAUTHORIZED) {
      throw new ReplicationFailure(
          ReplicationFailure.UNAUTHORIZED,
          "unauthorized",
          "unauthorized to access or create database " + shown());
    }
    if (answer.status() == ReplicationFailure.FORBIDDEN) {
      throw new ReplicationFailure(
          ReplicationFailure.FORBIDDEN,
          "forbidden",
          "forbidden to access or create database " + shown());
    }
  }

  /** What this server did not take is told by its own words. */
  private ReplicationFailure failed(String what, JsonAnswer answer) {
    String own = answer.text("error") + ": " + answer.text("reason");
    return ReplicationFailure.passing(
        what, what + " at " + shown() + " with status " + answer.status() + ", " + own);
  }

  @Override
  public Optional<JsonObject> local(String id) {
    JsonAnswer answer = client.json("GET", "_local/" + CouchClient.encoded(id), Optional.empty());
    requireRight(answer);
    if (answer.status() == ReplicationFailure.NOT_FOUND) {
      return Optional.empty();
    }
    if (answer.isOk() && answer.json() instanceof JsonObject document) {
      return Optional.of(document);
    }
    throw failed("checkpoint_read_failed", answer);
  }

  @Override
  public String save(String id, JsonObject body) {
    JsonAnswer answer =
        client.json("PUT", "_local/" + CouchClient.encoded(id), Optional.of(body.toBytes()));
    if (answer.isOk()) {
      return answer.text("rev");
    }
    if (answer.status() == ReplicationFailure.CONFLICT) {
      throw new ReplicationFailure(
          ReplicationFailure.CONFLICT, "conflict", "Document update conflict.");
    }
    throw failed("checkpoint_commit_failure", answer);
  }

  @Override
  public Optional<String> commit() {
    admission.run();
    JsonAnswer answer =
        client.json(
            "POST", "_ensure_full_commit", Optional.of("{}".getBytes(StandardCharsets.UTF_8)));
    return answer.isOk()
        ? Optional.of(answer.text("instance_start_time")).filter(text -> !text.isEmpty())
        : Optional.empty();
  }

  @Override
  public CompletableFuture<byte[]> changes(Asked asked) {
    admission.run();
    Map<String, String> query = new LinkedHashMap<>();
    query.put("feed", asked.waits() ? "longpoll" : "normal");
    query.put("style", options.winnersOnly() ? "main_only" : "all_docs");
    query.put("since", asked.position());
    query.put("limit", Integer.toString(asked.limit()));
    // Other servers than Lectus pass over it. A function would see it.
    if (asked.withDocuments() && !(choice instanceof Choice.OfFilter)) {
      query.put("small_docs", "true");
    }
    // A server without a byte to send would look like one that is gone.
    query.put("heartbeat", Long.toString(Math.max(1_000, options.patienceMillis() / 3)));
    Optional<byte[]> body = Optional.empty();
    if (choice instanceof Choice.Ids some) {
      query.put("filter", "_doc_ids");
      JsonArray ids = new JsonArray(some.ids().stream().<JsonValue>map(JsonString::new).toList());
      body = Optional.of(new JsonObject(Map.of("doc_ids", ids)).toBytes());
    } else if (choice instanceof Choice.OfSelector some) {
      query.put("filter", "_selector");
      body = Optional.of(new JsonObject(Map.of("selector", some.selector())).toBytes());
    } else if (choice instanceof Choice.OfFilter some) {
      query.put("filter", some.name());
      some.parameters()
          .members()
          .forEach((name, value) -> query.putIfAbsent(name, ((JsonString) value).value()));
    }
    CompletableFuture<HttpCaller.WholeAnswer> sent =
        client.fetch(
            body.isPresent() ? "POST" : "GET", "_changes?" + text(query), body, asked.room());
    CompletableFuture<byte[]> page = sent.thenApply(this::page);
    page.whenComplete((done, failure) -> sent.cancel(false));
    return page;
  }

  private byte[] page(HttpCaller.WholeAnswer answer) {
    if (answer.status() == OK) {
      return answer.body();
    }
    String reason =
        "The changes of " + shown() + " are answered with status " + answer.status() + ".";
    boolean isRefused =
        answer.status() == ReplicationFailure.UNAUTHORIZED
            || answer.status() == ReplicationFailure.FORBIDDEN;
    throw isRefused
        ? new ReplicationFailure(answer.status(), "changes_req_failed", reason)
        : ReplicationFailure.passing("changes_req_failed", reason);
  }

  private static String text(Map<String, String> query) {
    List<String> all = new ArrayList<>();
    query.forEach(
        (name, value) -> all.add(CouchClient.encoded(name) + '=' + CouchClient.encoded(value)));
    return String.join("&", all);
  }

  @Override
  public Optional<InputStream> bulkGet(byte[] request, boolean named) {
    if (lacksBulkGet) {
      return Optional.empty();
    }
    try {
      HttpAnswer answer =
          client.open(
              "POST",
              "_bulk_get?revs=true&latest=true&attachments=false&named_stubs=" + named,
              Optional.of(request),
              "application/json");
      if (answer.status() == OK) {
        return Optional.of(answer.body());
      }
      answer.close();
      lacksBulkGet = true;
    } catch (RemoteFailure failure) {
      if (failure.status() == 0) {
        throw failure;
      }
    }
    return Optional.empty();
  }

  @Override
  public OpenRevisions open(String id, List<String> revisions, Had had) {
    String since = parameter("&atts_since=", had.revisions());
    String held = parameter("&atts_held=", had.contents());
    HttpAnswer answer =
        client.open(
            "GET",
            path(id)
                + "?revs=true&latest=true&attachments=true&open_revs="
                + CouchClient.encoded(list(revisions))
                + since
                + held,
            Optional.empty(),
            "multipart/mixed, application/json;q=0.5");
    if (answer.status() != OK) {
      answer.close();
      throw ReplicationFailure.passing(
          "open_doc_revs_failed",
          "A document of " + shown() + " is answered with status " + answer.status() + ".");
    }
    String type = answer.header("Content-Type").orElse("");
    try {
      return new OpenRevisions(
          type.startsWith("multipart/") ? Optional.of(BatchCopy.boundary(type)) : Optional.empty(),
          answer.body());
    } catch (IOException none) {
      answer.close();
      throw ReplicationFailure.passing("open_doc_revs_failed", "Its answer has no boundary.");
    }
  }

  /** Returns the SHA-256 of an attachment's bytes, as they are when nothing compresses them. */
  byte[] digest(String id, String revision, String name) throws IOException {
    String target =
        path(id) + '/' + CouchClient.encoded(name) + "?rev=" + CouchClient.encoded(revision);
    MessageDigest digest = Digests.sha256();
    try (HttpAnswer answer = client.open("GET", target, Optional.empty(), "*/*")) {
      if (answer.status() != OK) {
        throw new IOException(
            "An attachment of " + shown() + " is answered with status " + answer.status() + ".");
      }
      byte[] part = new byte[READ_AT_ONCE];
      for (int read = answer.body().read(part); read >= 0; read = answer.body().read(part)) {
        digest.update(part, 0, read);
      }
    }
    return digest.digest();
  }

  @Override
  public Optional<JsonObject> design(String id) {
    JsonAnswer answer = client.json("GET", path(id), Optional.empty());
    return answer.isOk() && answer.json() instanceof JsonObject document
        ? Optional.of(document)
        : Optional.empty();
  }

  private static String parameter(String name, List<String> texts) {
    return texts.isEmpty() ? "" : name + CouchClient.encoded(list(texts));
  }

  private static String list(List<String> texts) {
    return new JsonArray(texts.stream().<JsonValue>map(JsonString::new).toList()).toJson();
  }

  /** Design and local documents have a slash in their path. */
  private static String path(String id) {
    return id.startsWith(SentDocument.DESIGN)
        ? SentDocument.DESIGN + CouchClient.encoded(id.substring(SentDocument.DESIGN.length()))
        : CouchClient.encoded(id);
  }

  @Override
  public void create(JsonObject parameters) {
    Map<String, String> query = new LinkedHashMap<>();
    parameters
        .members()
        .forEach(
            (name, value) ->
                query.put(name, value instanceof JsonString text ? text.value() : value.toJson()));
    JsonAnswer answer =
        client.json("PUT", query.isEmpty() ? "" : '?' + text(query), Optional.empty());
    requireRight(answer);
    if (!answer.isOk() && answer.status() != PRECONDITION_FAILED) {
      throw failed("db_create_failed", answer);
    }
  }

  @Override
  public List<Wanted> missing(Map<String, List<String>> revisions) {
    JsonBuffer body = new JsonBuffer(64 * revisions.size()).octet('{');
    body.each(
            revisions.entrySet(),
            each -> body.string(each.getKey()).octet(':').strings(each.getValue()))
        .octet('}');
    JsonAnswer answer = client.json("POST", "_revs_diff", Optional.of(body.toBytes()));
    if (answer.isOk() && answer.json() instanceof JsonObject missing) {
      return wanted(missing);
    }
    requireRight(answer);
    throw failed("revs_diff_failed", answer);
  }

  private static List<Wanted> wanted(JsonObject missing) {
    List<Wanted> wanted = new ArrayList<>();
    missing
        .members()
        .forEach(
            (id, answer) -> {
              List<String> known = texts(answer, "possible_ancestors");
              texts(answer, "missing")
                  .forEach(it -> wanted.add(new Wanted(id, it, known, Optional.empty())));
            });
    return wanted;
  }

  private static List<String> texts(JsonValue object, String member) {
    return object.member(member).map(JsonValue::texts).orElse(List.of());
  }

  @Override
  public Arrived write(List<SentDocument> documents) {
    List<Refusal> refused = new ArrayList<>();
    List<SentDocument> together = new ArrayList<>();
    for (SentDocument document : documents) {
      // CouchDB refuses all documents of a request in which there is a design document that the
      // user may not write.
      if (document.isDesign()) {
        put(document, CallBody.of(document.json()), "application/json").ifPresent(refused::add);
      } else {
        together.add(document);
      }
    }
    return new Arrived(writeTogether(together, refused), refused);
  }

  /** Returns how many were there already. */
  private int writeTogether(List<SentDocument> documents, List<Refusal> refused) {
    if (documents.isEmpty()) {
      return 0;
    }
    int length = documents.stream().mapToInt(it -> it.json().length + 1).sum();
    JsonBuffer body = new JsonBuffer(length + 64).ascii("{\"new_edits\":false,\"docs\":[");
    body.each(documents, document -> body.raw(document.json())).ascii("]}");
    JsonAnswer answer =
        client.json(
            "POST",
            tellsKnown() ? "_bulk_docs?known_revisions=true" : "_bulk_docs",
            Optional.of(body.toBytes()));
    if (answer.isOk() && answer.json() instanceof JsonArray rows) {
      int before = refused.size();
      rows.elements().forEach(row -> addRefusal(row, refused));
      return tellsKnown() ? rows.elements().size() - (refused.size() - before) : 0;
    }
    if (answer.status() == TOO_LARGE && documents.size() > 1) {
      int middle = documents.size() / 2;
      return writeTogether(documents.subList(0, middle), refused)
          + writeTogether(documents.subList(middle, documents.size()), refused);
    }
    if (answer.status() == TOO_LARGE) {
      refused.add(
          new Refusal(documents.get(0).id(), "request_entity_too_large", answer.text("reason")));
      return 0;
    }
    requireRight(answer);
    throw failed("bulk_docs_failed", answer);
  }

  private void addRefusal(JsonValue row, List<Refusal> refused) {
    JsonAnswer each = new JsonAnswer(OK, row);
    String error = each.text("error");
    if (error.isEmpty()) {
      return;
    }
    if (!FOR_GOOD.contains(error)) {
      throw failed("bulk_docs_failed", each);
    }
    refused.add(new Refusal(each.text("id"), error, each.text("reason")));
  }

  private Optional<Refusal> put(SentDocument document, CallBody body, String contentType) {
    JsonAnswer answer =
        client.json(
            "PUT", path(document.id()) + "?new_edits=false", Optional.of(body), contentType);
    if (answer.isOk()) {
      return Optional.empty();
    }
    boolean isForGood =
        answer.status() == ReplicationFailure.UNAUTHORIZED
            || answer.status() == ReplicationFailure.FORBIDDEN
            || answer.status() == TOO_LARGE
            || answer.status() == BAD_TYPE
            || FOR_GOOD.contains(answer.text("error"));
    if (!isForGood) {
      throw failed("doc_write_failed", answer);
    }
    return Optional.of(
        new Refusal(
            document.id(),
            answer.text("error"),
            answer.text("reason"),
            texts(answer.json(), "missing")));
  }

  @Override
  public Optional<Refusal> write(SentDocument document, AttachmentParts parts) throws IOException {
    String boundary = UUID.randomUUID().toString().replace("-", "");
    List<Following> following = document.following();
    try {
      if (following.isEmpty()) {
        return put(document, CallBody.of(document.json()), "application/json");
      }
      RelatedBody body = new RelatedBody(document, following, parts, boundary);
      if (following.stream().anyMatch(Following::gzipped) && !takesGzip()) {
        SentDocument plain = document.inflated();
        body = new RelatedBody(plain, plain.following(), inflated(parts, following), boundary);
      }
      return put(document, body, "multipart/related; boundary=\"" + boundary + '"');
    } catch (RemoteFailure cut) {
      throw new IOException(cut);
    }
  }

  /** PouchDB Server would take compressed bytes for the content itself. */
  private boolean takesGzip() {
    JsonObject server = welcome();
    return server.members().isEmpty() || server.get("couchdb").isPresent();
  }

  @Override
  public boolean takesNamedStubs() {
    return has("named_stubs");
  }

  @Override
  public boolean tellsKnown() {
    return has("known_revisions");
  }

  private boolean has(String feature) {
    if (features.isEmpty()) {
      features = Optional.of(features());
    }
    return features.get().elements().contains(new JsonString(feature));
  }

  private JsonArray features() {
    try {
      if (welcome().get("features").orElse(null) instanceof JsonArray all) {
        return all;
      }
    } catch (RemoteFailure unknown) {
      // A proxy may pass on what is of the database alone.
    }
    return new JsonArray(List.of());
  }

  /** Has no members if the server does not say what it is. */
  private JsonObject welcome() {
    if (welcome.isEmpty()) {
      JsonAnswer answer = client.json("GET", "../", Optional.empty());
      welcome =
          Optional.of(
              answer.isOk() && answer.json() instanceof JsonObject server
                  ? server
                  : new JsonObject(Map.of()));
    }
    return welcome.get();
  }

  private static AttachmentParts inflated(AttachmentParts parts, List<Following> following) {
    Iterator<Following> all = following.iterator();
    return () -> {
      Optional<AttachmentPart> next = parts.next();
      return next.isPresent() && all.next().gzipped()
          ? Optional.of(
              new AttachmentPart(
                  next.get().names(), new GZIPInputStream(next.get().content(), READ_AT_ONCE)))
          : next;
    };
  }

  /** A document and its attachments, which pass through once. Its length is known before. */
  private record RelatedBody(
      SentDocument document, List<Following> following, AttachmentParts parts, String boundary)
      implements CallBody {
    private static final int COPIED_AT_ONCE = 32 << 10;

    private byte[] head() {
      return ("--" + boundary + "\r\nContent-Type: application/json\r\n\r\n")
          .getBytes(StandardCharsets.UTF_8);
    }

    private byte[] before(Following attachment) {
      String name = attachment.name().replaceAll("[\\p{Cntrl}]", " ");
      return ("\r\n--"
              + boundary
              + "\r\nContent-Disposition: attachment; filename=\""
              + name
              + "\"\r\nContent-Type: "
              + attachment.type().replaceAll("[\\p{Cntrl}]", " ")
              + "\r\nContent-Length: "
              + attachment.bytes()
              + (attachment.gzipped() ? "\r\nContent-Encoding: gzip" : "")
              + "\r\n\r\n")
          .getBytes(StandardCharsets.UTF_8);
    }

    private byte[] end() {
      return ("\r\n--" + boundary + "--").getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public boolean isRepeatable() {
      return false;
    }

    @Override
    public long length() {
      long length = head().length + document.json().length + end().length;
      for (Following attachment : following) {
        length += before(attachment).length + attachment.bytes();
      }
      return length;
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      out.write(head());
      out.write(document.json());
      for (Following attachment : following) {
        AttachmentPart part =
            parts
                .next()
                .filter(it -> it.names().isEmpty() || it.names().contains(attachment.name()))
                .orElseThrow(() -> new IOException("Attachments came in another order."));
        out.write(before(attachment));
        copy(part.content(), attachment.bytes(), out);
      }
      out.write(end());
    }

    private static void copy(InputStream in, long length, OutputStream out) throws IOException {
      byte[] some = new byte[COPIED_AT_ONCE];
      long left = length;
      for (int read = in.read(some); read >= 0; read = in.read(some)) {
        left -= read;
        if (left < 0) {
          throw new IOException("An attachment is longer than announced.");
        }
        out.write(some, 0, read);
      }
      if (left > 0) {
        throw new IOException("An attachment is shorter than announced.");
      }
    }
  }
}
