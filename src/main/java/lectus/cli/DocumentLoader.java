package lectus.cli;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import lectus.cli.ServerUrl.RefusedException;
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

  private final ServerUrl database;
  private final IntConsumer progress;

  /**
   * @param database such as {@code http://127.0.0.1:5984/unicode}
   * @param progress receives the number of documents sent so far, after each request
   */
  public DocumentLoader(ServerUrl database, IntConsumer progress) {
    this.database = database;
    this.progress = progress;
  }

  /**
   * How many documents there are now.
   *
   * @param existing of those, were there before and stayed as they were
   */
  public record Loaded(int documents, int existing) {}

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
      existing += ServerUrl.await(underWay.remove());
    }
    return new Loaded(sent, existing);
  }

  private void createDatabase() throws IOException {
    HttpRequest put = database.request("").PUT(BodyPublishers.noBody()).build();
    ServerUrl.await(
        database
            .sendAsync(put, BodyHandlers.ofString())
            .thenApply(a -> a.statusCode() == PRECONDITION_FAILED ? a : check(a)));
  }

  /** Returns how many documents of an earlier request there were before. */
  private int submit(JsonBuffer batch, Queue<CompletableFuture<Integer>> underWay)
      throws IOException {
    int existing = underWay.size() == REQUESTS_AT_ONCE ? ServerUrl.await(underWay.remove()) : 0;
    byte[] body = batch.ascii("]}").toBytes();
    batch.truncate(0);
    HttpRequest post =
        database
            .request("/_bulk_docs")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    underWay.add(
        database
            .sendAsync(post, BodyHandlers.ofString())
            .thenApply(DocumentLoader::check)
            .thenApply(DocumentLoader::existing));
    return existing;
  }

  private static HttpResponse<String> check(HttpResponse<String> answer) {
    if (answer.statusCode() / 100 != 2) {
      throw new CompletionException(
          new RefusedException(answer.statusCode(), answer.body().strip()));
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
            new IOException(
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
}
