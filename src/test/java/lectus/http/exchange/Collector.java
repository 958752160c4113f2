package lectus.http.exchange;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Takes spans as OTLP over HTTP, as collectors do. */
final class Collector implements AutoCloseable {
  private final Vertx vertx = Vertx.vertx();
  private final List<byte[]> requests = new CopyOnWriteArrayList<>();
  private final HttpServer server;
  private volatile int status = 200;

  Collector() {
    server =
        vertx
            .createHttpServer()
            .requestHandler(request -> request.body().onSuccess(body -> take(request, body)))
            .listen(0, "127.0.0.1")
            .await();
  }

  private void take(HttpServerRequest request, Buffer body) {
    if (!request.path().equals("/v1/traces")) {
      request.response().setStatusCode(404).end();
    } else if (status == 200) {
      requests.add(unzipped(body.getBytes()));
      request.response().putHeader("Content-Type", "application/x-protobuf").end();
    } else if (status > 0) {
      request.response().setStatusCode(status).end();
    }
  }

  private static byte[] unzipped(byte[] body) {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(body))) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param next of answers from now on; 0: it never answers
   */
  void answers(int next) {
    status = next;
  }

  String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  List<CollectedSpan> spans() {
    return requests.stream().flatMap(it -> CollectedSpan.read(it).stream()).toList();
  }

  /** Whether any text was in what was sent. */
  boolean hasSeen(String text) {
    return requests.stream()
        .anyMatch(it -> new String(it, StandardCharsets.ISO_8859_1).contains(text));
  }

  @Override
  public void close() {
    vertx.close().await();
  }
}
