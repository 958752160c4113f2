package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;
import lectus.attachment.AttachmentIntake;
import lectus.database.DatabaseName;
import lectus.document.edit.ArrivingJson;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.edit.RestoredCheckpoint;
import lectus.document.edit.SentJson;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes;
import lectus.document.write.Writes.Completion;
import lectus.http.Headers;
import lectus.http.MediaType;
import lectus.http.RelatedDocument;
import lectus.http.Reply;
import lectus.http.document.DocumentApi.Uuids;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.HeldMemory;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Services.Documents;
import lectus.revision.RevisionId;

/** Writes single documents: parses them, queues them and answers with their outcomes. */
final class DocumentEditing {
  /**
   * Smaller bodies are parsed on the event loop, which costs less than the hand-over to a thread.
   */
  private static final int PARSED_AT_ONCE_BYTES = 16 << 10;

  /** Approximate bytes of memory of a parsed document for each byte of JSON. */
  private static final int MEMORY_FACTOR = 4;

  private static final int MEMORY_PER_EDIT = 512;

  private final DocumentParser parser;
  private final AttachmentIntake intake;
  private final Writes writes;
  private final EditPreparation preparation;
  private final Uuids uuids;

  DocumentEditing(Documents documents, EditPreparation preparation, Uuids uuids) {
    this.parser = documents.parser();
    this.intake = documents.attachments();
    this.writes = documents.writes();
    this.preparation = preparation;
    this.uuids = uuids;
  }

  /** Returns the approximate memory, in bytes, of an edit of so many bytes of JSON. */
  static long memoryOf(long jsonBytes, int edits) {
    return jsonBytes * MEMORY_FACTOR + (long) edits * MEMORY_PER_EDIT;
  }

  /** PUT of a document under its name. */
  void put(Exchange exchange, DatabaseName database, String id) {
    NamedRevisions named = namedRevisions(exchange);
    put(
        exchange,
        database,
        id,
        isNewEdit(exchange)
            ? json -> parser.of(json).interactive(id, named, json.document())
            : json -> parser.of(json).replicated(id, named, json.document()));
  }

  /** PUT of a local document; {@code id} includes {@code _local/}. */
  void putLocal(Exchange exchange, DatabaseName database, String id) {
    NamedRevisions named = namedRevisions(exchange);
    put(
        exchange,
        database,
        id,
        isNewEdit(exchange)
            ? json -> {
              RestoredCheckpoint.check(json.document());
              return parser.of(json).local(id, named, json.document());
            }
            : json -> parser.of(json).replicatedLocal(id, named, json.document()));
  }

  private void put(
      Exchange exchange, DatabaseName database, String id, Function<SentJson, Edit> parsing) {
    String location = PublicUrl.location(exchange, database.text(), id);
    parse(
        exchange,
        database,
        parsing,
        edit -> {
          int status = edit.deleted() ? 200 : 201;
          take(exchange, database, edit, done -> WriteReply.of(done, status, location));
        });
  }

  private static boolean isNewEdit(Exchange exchange) {
    return !"false".equals(exchange.query().get("new_edits"));
  }

  /** POST of a document to its database. */
  void post(Exchange exchange, DatabaseName database) {
    parse(
        exchange,
        database,
        json -> parser.of(json).created(json.document(), uuids::next),
        edit -> {
          String location = PublicUrl.location(exchange, database.text(), edit.id());
          take(exchange, database, edit, done -> posted(done, location));
        });
  }

  /** As the answer to PUT, but without ETag. */
  private static Reply posted(EditOutcome outcome, String location) {
    Reply reply = WriteReply.of(outcome, 201, null);
    if (reply.status() != 201) {
      return reply;
    }
    return new Reply(201, reply.contentType(), reply.body(), List.of())
        .with(Headers.LOCATION, location);
  }

  /** Queues a parsed edit and answers with its outcome, or at once if asked to. */
  private void take(
      Exchange exchange, DatabaseName database, Edit edit, Function<EditOutcome, Reply> reply) {
    if ("ok".equals(exchange.query().get("batch"))) {
      prepare(
          exchange,
          database,
          edit,
          prepared -> {
            queue(database, prepared, new WriteReply.FireAndForget(exchange.label()));
            exchange.reply(WriteReply.accepted(edit.id()));
          });
    } else {
      submit(exchange, database, edit, reply);
    }
  }

  /** Queues a parsed edit and answers with its outcome. */
  void submit(
      Exchange exchange, DatabaseName database, Edit edit, Function<EditOutcome, Reply> reply) {
    prepare(
        exchange,
        database,
        edit,
        prepared -> queue(database, prepared, new WriteReply.Answering(exchange, reply)));
  }

  /**
   * Makes an edit of a stored document. What it holds is counted like a body; if there is no room,
   * it is dropped, and made anew when there is.
   */
  static Future<Edit> counted(Exchange exchange, Callable<Edit> making) {
    HeldMemory held = exchange.held();
    return exchange
        .work(making)
        .compose(
            edit ->
                held.tryBodyGrows(edit.body().jsonBytes())
                    ? Future.succeededFuture(edit)
                    : held.bodyGrows(edit.body().jsonBytes())
                        .compose(counted -> exchange.work(making)));
  }

  /** Queues an edit once it is made, and answers with its outcome or why it cannot be made. */
  void submit(
      Exchange exchange,
      DatabaseName database,
      Future<Edit> edited,
      Function<EditOutcome, Reply> reply) {
    edited.onComplete(
        edit -> exchange.guarded(() -> submit(exchange, database, edit, reply)), exchange::fail);
  }

  /** Queues edits and answers with their outcomes. */
  void submitAll(
      Exchange exchange,
      DatabaseName database,
      List<Edit> edits,
      Function<List<EditOutcome>, Reply> reply) {
    long jsonBytes = edits.stream().mapToLong(edit -> edit.body().jsonBytes()).sum();
    preparation
        .prepareAll(exchange, database, edits)
        .onComplete(
            prepared ->
                exchange.guarded(
                    () ->
                        writes.writeAll(
                            database,
                            prepared,
                            memoryOf(jsonBytes, edits.size()),
                            preparation.completing(
                                database, new WriteReply.AnsweringAll(exchange, reply)))),
            exchange::fail);
  }

  private void queue(DatabaseName database, Edit edit, Completion completion) {
    writes.write(
        database,
        edit,
        memoryOf(edit.body().jsonBytes(), 1),
        preparation.completing(database, completion));
  }

  private void prepare(Exchange exchange, DatabaseName database, Edit edit, Consumer<Edit> then) {
    preparation
        .prepare(exchange, database, edit)
        .onComplete(prepared -> exchange.guarded(() -> then.accept(prepared)), exchange::fail);
  }

  /**
   * Returns the revision that a request without a body names.
   *
   * @throws LectusException {@code bad_request}: no revision, or two different ones
   */
  static Optional<RevisionId> givenRevision(Exchange exchange) {
    return givenRevision(exchange, RevisionId::of);
  }

  /** Returns the revision as above, parsed by the given function. */
  static <R> Optional<R> givenRevision(Exchange exchange, Function<String, R> reading) {
    return namedRevisions(exchange).agreed(Optional.empty(), reading);
  }

  /** Whether the request names a revision at all. */
  static boolean namesRevision(Exchange exchange) {
    return !namedRevisions(exchange).isEmpty();
  }

  private static NamedRevisions namedRevisions(Exchange exchange) {
    return new NamedRevisions(
        exchange.query().text("rev"),
        Optional.ofNullable(exchange.header(HttpHeaders.IF_MATCH))
            .map(match -> unquoted(match.trim())));
  }

  private static String unquoted(String text) {
    boolean quoted = text.length() > 1 && text.startsWith("\"") && text.endsWith("\"");
    return quoted ? text.substring(1, text.length() - 1) : text;
  }

  private void parse(
      Exchange exchange,
      DatabaseName database,
      Function<SentJson, Edit> parsing,
      Consumer<Edit> then) {
    String contentType = exchange.header(HttpHeaders.CONTENT_TYPE);
    Future<Edit> parsed =
        MediaType.isNamed(RelatedDocument.MEDIA_TYPE, contentType)
            ? UnzippedSink.read(
                exchange,
                Long.MAX_VALUE,
                new RelatedUpload(
                    RelatedDocument.of(contentType),
                    intake,
                    database,
                    parsing,
                    FlowingBody.mostBytes(exchange)))
            : JsonSink.read(exchange, () -> ArrivingJson.ofDocument(intake, database))
                .compose(json -> parsed(exchange, json, parsing));
    parsed.onComplete(edit -> exchange.guarded(() -> then.accept(edit)), exchange::fail);
  }

  private static Future<Edit> parsed(
      Exchange exchange, SentJson json, Function<SentJson, Edit> parsing) {
    return json.length() < PARSED_AT_ONCE_BYTES
        ? Future.succeededFuture(parsing.apply(json))
        : exchange.work(() -> parsing.apply(json));
  }
}
