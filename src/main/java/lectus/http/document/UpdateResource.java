package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseRequest;
import lectus.document.edit.Edit;
import lectus.document.read.DocumentQuery;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.DesignFunctions.DesignFunction;
import lectus.http.exchange.DesignFunctions.Update;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.RequestObject;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services.Documents;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.revision.RevisionId;
import lectus.script.Kind;
import lectus.script.Outcome;

/**
 * {@code /{db}/_design/{name}/_update/{function}}, alone or with a document's id: a function makes
 * a document of the request and of the stored document, and an answer. The document is written as
 * any other; if the stored one has changed meanwhile, that is a conflict, as in CouchDB.
 */
record UpdateResource(DesignFunctions functions, Documents documents, DocumentEditing writes)
    implements Resource {
  /** The place of the function's name in the path. */
  private static final int FUNCTION = 4;

  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

  /** As CouchDB shows a document to a function. */
  private static final DocumentQuery SHOWN =
      new DocumentQuery(Optional.empty(), true, false, true, false, false, List.of());

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST && exchange.method() != Method.PUT) {
      throw Requests.notAllowed("POST,PUT");
    }
    List<String> path = exchange.target().segments();
    if (path.size() <= FUNCTION) {
      throw LectusException.notFound("Invalid path.");
    }
    DatabaseRequest asked = exchange.database();
    Optional<String> id =
        path.size() == FUNCTION + 1
            ? Optional.empty()
            : Optional.of(String.join("/", path.subList(FUNCTION + 1, path.size())));
    id.ifPresent(it -> SecretDocuments.checkWhole(exchange, asked.name(), it));
    DesignFunction function =
        new DesignFunction(path.get(2), Kind.UPDATE, List.of("updates", path.get(FUNCTION)));
    exchange
        .body()
        .compose(
            body -> {
              RequestObject request = RequestObject.of(exchange, body).about(id);
              return exchange.work(
                  () -> functions.update(asked, function, stored(asked, id), request));
            })
        .compose(update -> run(exchange, update))
        .compose(result -> exchange.held().bodyGrows(result.length).map(result))
        .compose(result -> exchange.work(() -> FunctionResult.parse(result)))
        .onComplete(
            result -> exchange.guarded(() -> write(exchange, asked, result)),
            failure -> fail(exchange, failure));
  }

  private byte[] stored(DatabaseRequest asked, Optional<String> id) {
    if (id.isEmpty()) {
      return NULL;
    }
    JsonBuffer json = new JsonBuffer(1_024);
    try {
      documents.reader().read(asked, id.get(), SHOWN, json);
      return json.toBytes();
    } catch (LectusException e) {
      if (e.error() instanceof LectusError.NotFound) {
        return NULL;
      }
      throw e;
    }
  }

  /** What is held while the function runs counts like a body. */
  private Future<byte[]> run(Exchange exchange, Update update) {
    return exchange
        .held()
        .bodyGrows(update.bytes())
        .compose(
            counted -> {
              CompletableFuture<Outcome> running = functions.run(update);
              exchange.whenLeft(() -> running.cancel(false));
              return Future.fromCompletionStage(running, exchange.context());
            })
        .map(
            outcome -> {
              if (outcome instanceof Outcome.Value value) {
                return value.json();
              }
              throw new LectusException(outcome.failure().orElseThrow());
            });
  }

  private static void fail(Exchange exchange, Throwable failure) {
    if (exchange.isAbandoned()) {
      exchange.abandoned();
    } else {
      exchange.fail(failure);
    }
  }

  private void write(Exchange exchange, DatabaseRequest asked, FunctionResult result) {
    if (result.document().isEmpty()) {
      exchange.reply(result.response().reply(200, List.of()));
      return;
    }
    byte[] json = result.document().get();
    Future<Edit> edit =
        DocumentEditing.counted(
            exchange, () -> documents.parser().created(json, UpdateResource::withoutId));
    writes.submit(exchange, asked.name(), edit, outcome -> reply(outcome, result.response()));
  }

  private static String withoutId() {
    throw LectusException.badRequest("illegal_docid", "Document id must not be empty");
  }

  private static Reply reply(EditOutcome outcome, FunctionResponse response) {
    if (outcome instanceof EditOutcome.Written written) {
      return response.reply(201, stored(written.id(), written.revision()));
    }
    if (outcome instanceof EditOutcome.Unchanged unchanged) {
      return response.reply(201, stored(unchanged.id(), unchanged.revision()));
    }
    return WriteReply.of(outcome, 201, null);
  }

  private static List<Reply.Header> stored(String id, RevisionId revision) {
    return List.of(
        new Reply.Header("X-Couch-Update-NewRev", revision.toString()),
        new Reply.Header("X-Couch-Id", PublicUrl.encoded(id)));
  }

  /**
   * What the function returned.
   *
   * @param document JSON; empty if nothing is to be written
   */
  private record FunctionResult(Optional<byte[]> document, FunctionResponse response) {
    static FunctionResult parse(byte[] json) {
      if (JsonValue.parse(json) instanceof JsonArray array && array.elements().size() == 2) {
        JsonValue document = array.elements().get(0);
        return new FunctionResult(
            document instanceof JsonObject
                ? Optional.of(document.toJson().getBytes(StandardCharsets.UTF_8))
                : Optional.empty(),
            FunctionResponse.of(array.elements().get(1)));
      }
      throw FunctionResponse.malformed("it is no array of a document and a response");
    }
  }

  /**
   * The answer that a function makes: a text, or an object.
   *
   * @param code in place of the usual status
   */
  private record FunctionResponse(
      Optional<Integer> code, String contentType, Buffer body, List<Reply.Header> headers) {
    private static final String HTML = "text/html; charset=utf-8";

    /** Characters of all headers. Proxies and clients take some more than that. */
    private static final int MOST_HEADERS = 4_096;

    private static final Set<Integer> WITHOUT_BODY = Set.of(204, 205, 304);

    /** A page that a function makes must not act as one of the server's. */
    private static final Reply.Header SANDBOX =
        new Reply.Header("Content-Security-Policy", "sandbox");

    /** Headers of the connection, of the server, of who is logged in and of how a body is sent. */
    private static final Set<String> NOT_THEIRS =
        Set.of(
            "alt-svc",
            "clear-site-data",
            "connection",
            "content-encoding",
            "content-length",
            "content-range",
            "content-type",
            "date",
            "expect-ct",
            "keep-alive",
            "nel",
            "proxy-authenticate",
            "proxy-connection",
            "public-key-pins",
            "refresh",
            "report-to",
            "server",
            "service-worker-allowed",
            "set-cookie",
            "set-cookie2",
            "strict-transport-security",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "via",
            "www-authenticate",
            "x-content-type-options",
            "x-frame-options");

    private static final List<String> NOT_THEIRS_BEGIN =
        List.of("access-control-", "content-security-policy", "cross-origin-", "sec-", "x-couch");

    static FunctionResponse of(JsonValue json) {
      if (json instanceof JsonString text) {
        return new FunctionResponse(
            Optional.empty(), HTML, Buffer.buffer(text.value()), List.of(SANDBOX));
      }
      if (!(json instanceof JsonObject object)) {
        throw malformed("its response is neither a text nor an object");
      }
      return ofObject(object);
    }

    private static FunctionResponse ofObject(JsonObject object) {
      Optional<Integer> code = Optional.empty();
      Optional<JsonValue> shown = Optional.empty();
      Optional<String> given = Optional.empty();
      Buffer body = Buffer.buffer();
      String type = Headers.JSON.toString();
      List<Reply.Header> headers = new ArrayList<>(List.of(SANDBOX));
      for (Map.Entry<String, JsonValue> member : object.members().entrySet()) {
        JsonValue value = member.getValue();
        switch (member.getKey()) {
          case "code" -> code = Optional.of(code(value));
          case "json" -> shown = Optional.of(value);
          case "body" -> {
            body = Buffer.buffer(text(value));
            type = HTML;
          }
          case "base64" -> {
            body = Buffer.buffer(decoded(text(value)));
            type = "application/binary";
          }
          case "headers" -> given = addTo(headers, value);
          case "stop", "" -> {}
          default -> throw malformed("its response has a member `" + member.getKey() + "`");
        }
      }
      if (shown.isPresent()) {
        body = Buffer.buffer(shown.get().toJson() + "\n");
        type = Headers.JSON.toString();
      }
      return new FunctionResponse(code, given.orElse(type), body, headers);
    }

    private static int code(JsonValue value) {
      String text = value instanceof JsonNumber number ? number.text() : "";
      if (text.matches("[2-5][0-9][0-9]")) {
        return Integer.parseInt(text);
      }
      throw malformed("the code of its response is no status from 200 to 599");
    }

    private static String text(JsonValue value) {
      if (value instanceof JsonString text) {
        return text.value();
      }
      if (value instanceof JsonNumber number) {
        return number.text();
      }
      throw malformed("a member of its response is no text");
    }

    private static byte[] decoded(String base64) {
      try {
        return Base64.getDecoder().decode(base64);
      } catch (IllegalArgumentException e) {
        throw malformed("`base64` of its response is not base64");
      }
    }

    /** Adds what a function may say, and returns the type that it gives its answer. */
    private static Optional<String> addTo(List<Reply.Header> headers, JsonValue value) {
      if (!(value instanceof JsonObject object)) {
        throw malformed("`headers` of its response is no object");
      }
      Optional<String> type = Optional.empty();
      int characters = 0;
      for (Map.Entry<String, JsonValue> header : object.members().entrySet()) {
        String name = header.getKey().toLowerCase(Locale.ROOT);
        String shown = Headers.sendable(text(header.getValue()));
        characters += name.length() + shown.length();
        if (name.equals("content-type")) {
          type = Optional.of(shown);
        } else if (isTheirs(name)) {
          headers.add(new Reply.Header(header.getKey(), shown));
        }
      }
      if (characters > MOST_HEADERS) {
        throw malformed(
            "the headers of its response have more than " + MOST_HEADERS + " characters");
      }
      return type;
    }

    private static boolean isTheirs(String name) {
      return name.matches("[a-z0-9_-]+")
          && !NOT_THEIRS.contains(name)
          && NOT_THEIRS_BEGIN.stream().noneMatch(name::startsWith);
    }

    static LectusException malformed(String why) {
      return new LectusException(
          new LectusError.FunctionFailed(
              "external_response_error", "Invalid data from the function: " + why + "."));
    }

    /**
     * @param usual the status if the function has not chosen another
     * @param more headers
     */
    Reply reply(int usual, List<Reply.Header> more) {
      List<Reply.Header> all = new ArrayList<>(headers);
      all.addAll(more);
      int status = code.orElse(usual);
      boolean hasBody = !WITHOUT_BODY.contains(status);
      return new Reply(status, contentType, hasBody ? body : Buffer.buffer(), all);
    }
  }
}
