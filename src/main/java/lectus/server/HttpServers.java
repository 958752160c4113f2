package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.util.Optional;
import lectus.error.StartException;
import lectus.http.api.HttpApi;
import lectus.http.exchange.Services;
import lectus.server.connection.ServedCertificates;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP servers of one node: one for each event loop, which share a port. */
final class HttpServers {
  private final Vertx vertx;
  private final NodeSettings settings;
  private final int loops;
  private final Deployments verticles;
  private Optional<ServedCertificates> certificates = Optional.empty();
  private volatile int port;

  HttpServers(Vertx vertx, NodeSettings settings, int loops) {
    this.vertx = vertx;
    this.settings = settings;
    this.loops = loops;
    this.verticles = new Deployments(vertx);
  }

  /**
   * Reads what the servers need before anything is served.
   *
   * @throws StartException when certificates cannot be used
   */
  void prepare() {
    certificates =
        settings
            .wire()
            .tls()
            .map(
                tls ->
                    new ServedCertificates(
                        tls, settings.http().connections().headSeconds(), vertx));
  }

  /**
   * Starts the servers; the first one answers requests as soon as it is up.
   *
   * @throws StartException when the address cannot be listened on
   */
  void listen(Services services) {
    for (int number = 0; number < loops; number++) {
      HttpVerticle server = new HttpVerticle(services, settings, certificates);
      try {
        verticles.onEventLoop(server);
      } catch (StartException e) {
        throw settings.listen().refused(e.getCause());
      }
      port = server.server.actualPort();
      if (number == 0) {
        certificates.ifPresent(served -> served.serve(server.server()));
      }
    }
    certificates.ifPresent(served -> verticles.onThread("lectus-certificates", served));
  }

  /** Returns the port that the servers share. Thread-safe. */
  int port() {
    return port;
  }

  /** Returns the address as host:port. Thread-safe. */
  String address() {
    return settings.address(port);
  }

  /** Returns when the certificate expires, in seconds since 1970; never without one. */
  double certificateEnd() {
    return certificates.map(ServedCertificates::endSeconds).orElse(Double.POSITIVE_INFINITY);
  }

  /** Lets running requests end within the stop's grace, and waits so much longer for the rest. */
  void end(long moreSeconds) {
    verticles.end(settings.stopGrace().toSeconds() + moreSeconds);
  }

  /** One event loop's share of the HTTP connections. */
  private static final class HttpVerticle extends VerticleBase {
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

    /**
     * Logs uncaught exceptions of event loops. One is ignored: if a client leaves during its
     * WebSocket handshake, Vert.x completes its own promise twice.
     */
    private static final class UncaughtFailures implements Handler<Throwable> {
      private static final Logger LOG = LoggerFactory.getLogger(UncaughtFailures.class);
      private static final String HANDSHAKE = "createWebSocket";

      @Override
      public void handle(Throwable failure) {
        if (isLateHandshake(failure)) {
          LOG.debug("A client left during its handshake", failure);
        } else {
          LOG.error("Unhandled exception", failure);
        }
      }

      private static boolean isLateHandshake(Throwable failure) {
        if (!(failure instanceof IllegalStateException)) {
          return false;
        }
        for (StackTraceElement call : failure.getStackTrace()) {
          if (call.getMethodName().contains(HANDSHAKE)) {
            return true;
          }
        }
        return false;
      }
    }
  }
}
