package lectus.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import lectus.json.JsonBuffer;

/**
 * Writes documents to a database of a running server, like any client. It creates the database if
 * missing, then sends {@code _bulk_docs}, a few requests at a time.
 */
public final class DocumentLoader {
  private static final int DOCUMENTS_PER_REQUEST = 1_000;
  private static final int REQUESTS_AT_ONCE = 4;
  private static final int PRECONDITION_FAILED = 412;

  private final URI database;
  private final IntConsumer progress;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * @param database such as {@code http://127.0.0.1:5984/unicode}
   * @param progress receives the number of documents sent so far, after each request
   */
  public DocumentLoader(URI database, IntConsumer progress) {
    this.database = database;
    this.progress = progress;
  }

  /**
   * Loads a document for each number; existing documents stay unchanged.
   *
   * @param writer appends the document of a number, an object with its {@code _id}
   * @return how many documents were sent
   * @throws IOException if the server cannot be reached or refuses
   */
  public int load(IntStream numbers, ObjIntConsumer<JsonBuffer> writer) throws IOException {
    createDatabase();
    Queue<CompletableFuture<?>> underWay = new ArrayDeque<>();
    JsonBuffer batch = new JsonBuffer(1 << 20);
    int sent = 0;
    int inBatch = 0;
    for (int number : (Iterable<Integer>) numbers::iterator) {
      batch.ascii(inBatch == 0 ? "{\"docs\":[" : ",");
      writer.accept(batch, number);
      sent++;
      if (++inBatch == DOCUMENTS_PER_REQUEST) {
        submit(batch, underWay);
        progress.accept(sent);
        inBatch = 0;
      }
    }
    if (inBatch > 0) {
      submit(batch, underWay);
    }
    while (!underWay.isEmpty()) {
      await(underWay.remove());
    }
    return sent;
  }

  private void createDatabase() throws IOException {
    HttpRequest put = HttpRequest.newBuilder(database).PUT(BodyPublishers.noBody()).build();
    await(
        client
            .sendAsync(put, BodyHandlers.ofString())
            .thenApply(a -> a.statusCode() == PRECONDITION_FAILED ? a : check(a)));
  }

  private void submit(JsonBuffer batch, Queue<CompletableFuture<?>> underWay) throws IOException {
    if (underWay.size() == REQUESTS_AT_ONCE) {
      await(underWay.remove());
    }
    byte[] body = batch.ascii("]}").toBytes();
    batch.truncate(0);
    HttpRequest post =
        HttpRequest.newBuilder(URI.create(database + "/_bulk_docs"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    underWay.add(client.sendAsync(post, BodyHandlers.ofString()).thenApply(DocumentLoader::check));
  }

  private static HttpResponse<String> check(HttpResponse<String> answer) {
    if (answer.statusCode() / 100 != 2) {
      throw new CompletionException(
          new IOException(
              "the server answered " + answer.statusCode() + ": " + answer.body().strip()));
    }
    return answer;
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
