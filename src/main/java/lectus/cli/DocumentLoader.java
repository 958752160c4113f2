package lectus.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * Writes documents to a database of a running server, like any client. It creates the database if
 * missing, then sends {@code _bulk_docs}, a few requests at a time.
 */
public final class DocumentLoader {
  private static final int DOCUMENTS_PER_REQUEST = 1_000;
  private static final int REQUESTS_AT_ONCE = 4;
  private static final int PRECONDITION_FAILED = 412;

  /** A busy server may make a request wait for some seconds. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final URI database;
  private final HttpClient client;
  private final Optional<String> authorization;
  private final IntConsumer progress;

  /**
   * @param database such as {@code http://127.0.0.1:5984/unicode}
   * @param authorization the header of that name
   * @param progress receives the number of documents sent so far, after each request
   */
  public DocumentLoader(
      URI database, HttpClient client, Optional<String> authorization, IntConsumer progress) {
    this.database = database;
    this.client = client;
    this.authorization = authorization;
    this.progress = progress;
  }

  /**
   * How many documents there are now.
   *
   * @param existing of those, were there before and stayed as they were
   */
  public record Loaded(int documents, int existing) {}

  /** The server answers, and does not do it. */
  public static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    private RefusedException(int status, String message) {
      super(message);
      this.status = status;
    }

    public int status() {
      return status;
    }
  }

  /**
   * Loads a document for each number; existing documents stay unchanged.
   *
   * @param writer appends the document of a number, an object with its {@code _id}
   * @throws IOException if the server cannot be reached or refuses, be it a single document
   */
  public Loaded load(IntStream numbers, ObjIntConsumer<JsonBuffer> writer) throws IOException {
    createDatabase();
    Queue<CompletableFuture<Integer>> underWay = new ArrayDeque<>();
    JsonBuffer batch = new JsonBuffer(1 << 20);
    int sent = 0;
    int existing = 0;
    int inBatch = 0;
    for (int number : (Iterable<Integer>) numbers::iterator) {
      batch.ascii(inBatch == 0 ? "{\"docs\":[" : ",");
      writer.accept(batch, number);
      sent++;
      if (++inBatch == DOCUMENTS_PER_REQUEST) {
        existing += submit(batch, underWay);
        progress.accept(sent);
        inBatch = 0;
      }
    }
    if (inBatch > 0) {
      existing += submit(batch, underWay);
    }
    while (!underWay.isEmpty()) {
      existing += await(underWay.remove());
    }
    return new Loaded(sent, existing);
  }

  private void createDatabase() throws IOException {
    HttpRequest put = request(database).PUT(BodyPublishers.noBody()).build();
    await(
        client
            .sendAsync(put, BodyHandlers.ofString())
            .thenApply(a -> a.statusCode() == PRECONDITION_FAILED ? a : check(a)));
  }

  private HttpRequest.Builder request(URI target) {
    HttpRequest.Builder request = HttpRequest.newBuilder(target).timeout(PATIENCE);
    authorization.ifPresent(it -> request.header("Authorization", it));
    return request;
  }

  /** Returns how many documents of an earlier request there were before. */
  private int submit(JsonBuffer batch, Queue<CompletableFuture<Integer>> underWay)
      throws IOException {
    int existing = underWay.size() == REQUESTS_AT_ONCE ? await(underWay.remove()) : 0;
    byte[] body = batch.ascii("]}").toBytes();
    batch.truncate(0);
    HttpRequest post =
        request(URI.create(database + "/_bulk_docs"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    underWay.add(
        client
            .sendAsync(post, BodyHandlers.ofString())
            .thenApply(DocumentLoader::check)
            .thenApply(DocumentLoader::existing));
    return existing;
  }

  private static HttpResponse<String> check(HttpResponse<String> answer) {
    if (answer.statusCode() / 100 != 2) {
      throw new CompletionException(
          new RefusedException(
              answer.statusCode(),
              "the server answered " + answer.statusCode() + ": " + answer.body().strip()));
    }
    return answer;
  }

  /** Looks at each row: one that is no conflict says that its document is not stored. */
  private static int existing(HttpResponse<String> answer) {
    int conflicts = 0;
    for (JsonValue row : rows(answer.body())) {
      Optional<String> error = text(row, "error");
      if (error.filter("conflict"::equals).isPresent()) {
        conflicts++;
      } else if (error.isPresent()) {
        throw new CompletionException(
            new RefusedException(
                answer.statusCode(),
                "the server refused the document "
                    + text(row, "id").orElse("")
                    + ": "
                    + error.get()
                    + ", "
                    + text(row, "reason").orElse("")));
      }
    }
    return conflicts;
  }

  private static Iterable<JsonValue> rows(String body) {
    if (JsonValue.parse(body.getBytes(StandardCharsets.UTF_8)) instanceof JsonArray array) {
      return array.elements();
    }
    throw new CompletionException(new IOException("the server's answer has no rows"));
  }

  private static Optional<String> text(JsonValue row, String member) {
    return row instanceof JsonObject object
        ? object
            .get(member)
            .filter(JsonString.class::isInstance)
            .map(it -> ((JsonString) it).value())
        : Optional.empty();
  }

  private static <T> T await(CompletableFuture<T> answer) throws IOException {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw e;
    }
  }
}
