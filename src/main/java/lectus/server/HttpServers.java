package lectus.server;

import io.vertx.core.Vertx;
import java.net.BindException;
import java.util.Optional;
import lectus.http.Services;
import lectus.server.cluster.StartException;
import lectus.server.tls.ServedCertificates;

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
            .map(tls -> new ServedCertificates(tls, settings.http().headSeconds(), vertx));
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
        throw cannotListen(e);
      }
      port = server.port();
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

  private StartException cannotListen(StartException failure) {
    String address = settings.address(settings.port());
    String why =
        failure.getCause() instanceof BindException
            ? " is in use, or is no address of this machine."
            : " cannot be listened on.";
    return new StartException("The address " + address + why, failure);
  }
}
