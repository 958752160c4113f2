package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import java.util.Optional;
import lectus.http.Services;
import lectus.http.api.HttpApi;
import lectus.server.tls.ServedCertificates;

/** One event loop's share of the HTTP connections. */
final class HttpVerticle extends VerticleBase {
  private final Services services;
  private final NodeSettings settings;
  private final Optional<ServedCertificates> certificates;
  private HttpApi api;
  private HttpServer server;

  HttpVerticle(
      Services services, NodeSettings settings, Optional<ServedCertificates> certificates) {
    this.services = services;
    this.settings = settings;
    this.certificates = certificates;
  }

  @Override
  public Future<?> start() {
    context.exceptionHandler(new UncaughtFailures());
    api = new HttpApi(services, settings.http());
    server = api.createServer(vertx, certificates.map(ServedCertificates::atStart));
    return server.listen(sharedPort(), settings.host());
  }

  /** Ends the feeds, and waits until the answers to running requests have been sent. */
  @Override
  public Future<?> stop() {
    return api.endFeeds(vertx, settings.stopGrace())
        .compose(told -> server.shutdown(settings.stopGrace()))
        .onComplete(done -> api.closeLog());
  }

  /** Vert.x lets servers share any free port if they ask for a negative one. */
  private int sharedPort() {
    return settings.port() == 0 ? -1 : settings.port();
  }

  HttpServer server() {
    return server;
  }

  int port() {
    return server.actualPort();
  }
}
