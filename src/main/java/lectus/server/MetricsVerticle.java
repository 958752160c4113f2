package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.Set;
import lectus.metrics.ExpositionFormat;
import lectus.metrics.Metrics;

/**
 * A port on which Prometheus reads the figures of the server, without a log-in. Nothing else is
 * answered there, and no figure names a database, a document or a user.
 */
final class MetricsVerticle extends VerticleBase {
  private static final Set<String> PATHS = Set.of("/metrics", "/_node/_local/_prometheus");

  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int NOT_ALLOWED = 405;
  private static final int FAILED = 500;

  private static final int IDLE_SECONDS = 60;

  private final Metrics metrics;
  private final ListenPort settings;
  private HttpServer server;

  MetricsVerticle(Metrics metrics, ListenPort settings) {
    this.metrics = metrics;
    this.settings = settings;
  }

  @Override
  public Future<?> start() {
    server =
        vertx
            .createHttpServer(new HttpServerOptions().setIdleTimeout(IDLE_SECONDS))
            .requestHandler(this::answer);
    return server.listen(settings.port(), settings.host());
  }

  @Override
  public Future<?> stop() {
    return server.close();
  }

  private void answer(HttpServerRequest request) {
    if (!PATHS.contains(request.path())) {
      request.response().setStatusCode(NOT_FOUND).end();
    } else if (request.method() != HttpMethod.GET) {
      request
          .response()
          .setStatusCode(NOT_ALLOWED)
          .putHeader(HttpHeaders.ALLOW, HttpMethod.GET.name())
          .end();
    } else {
      ExpositionFormat format =
          ExpositionFormat.of(String.join(",", request.headers().getAll(HttpHeaders.ACCEPT)));
      Future.fromCompletionStage(metrics.text(format), context)
          .onComplete(
              text -> send(request, OK, format, text),
              failure -> send(request, FAILED, format, ""));
    }
  }

  private static void send(
      HttpServerRequest request, int status, ExpositionFormat format, String text) {
    if (!request.response().closed()) {
      request
          .response()
          .setStatusCode(status)
          .putHeader(HttpHeaders.CONTENT_TYPE, format.contentType())
          .end(Buffer.buffer(text));
    }
  }
}
