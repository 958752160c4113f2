package lectus.server.connection;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.ServerSSLOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import lectus.error.StartException;
import lectus.server.connection.Certificates.FileContents;
import lectus.server.connection.KeySource.TlsSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the certificates of a node's servers as the files have them. Connections that are open keep
 * theirs. What cannot be used is not taken: new connections go on with what they had. On a worker
 * thread of its own, once it is deployed.
 */
public final class ServedCertificates extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(ServedCertificates.class);

  private static final long LOOK_MILLIS = 500;

  private final Certificates certificates;
  private final ServerSSLOptions atStart;
  private final List<HttpServer> servers = new CopyOnWriteArrayList<>();

  /** What was judged last: either it is served, or it was refused. */
  private FileContents judged;

  private volatile double endSeconds;

  private FileContents seen;

  /**
   * Reads and checks the files.
   *
   * @param handshakeSeconds how long a client may take for its handshake
   * @throws StartException one sentence about what is wrong with the files
   */
  public ServedCertificates(TlsSettings settings, long handshakeSeconds, Vertx vertx) {
    this.certificates = new Certificates(settings, handshakeSeconds, vertx);
    this.judged = certificates.read();
    this.seen = judged;
    this.atStart = certificates.check(judged);
    this.endSeconds = certificates.end(judged).getEpochSecond();
  }

  public ServerSSLOptions atStart() {
    return atStart;
  }

  /** Returns when the certificate expires, in seconds since 1970. Thread-safe. */
  public double endSeconds() {
    return endSeconds;
  }

  /** From now on, a server that listens shows the certificates that are current. */
  public void serve(HttpServer server) {
    servers.add(server);
  }

  @Override
  public Future<?> start() {
    vertx.setPeriodic(LOOK_MILLIS, timer -> look());
    return Future.succeededFuture();
  }

  /**
   * Key and certificate are replaced one after the other, so what has changed is judged when it is
   * the same at two looks.
   */
  private void look() {
    FileContents now = certificates.read();
    boolean isSettled = now.equals(seen);
    seen = now;
    if (isSettled && !now.equals(judged)) {
      judged = now;
      judge(now);
    }
  }

  private void judge(FileContents contents) {
    try {
      ServerSSLOptions options = certificates.check(contents);
      endSeconds = certificates.end(contents).getEpochSecond();
      servers.forEach(server -> update(server, options));
    } catch (StartException unusable) {
      LOG.warn("{} The certificates from before are kept.", unusable.getMessage());
    }
  }

  private static void update(HttpServer server, ServerSSLOptions options) {
    server
        .updateSSLOptions(options, true)
        .onSuccess(updated -> LOG.info("New connections get the certificates that were changed."))
        .onFailure(failure -> LOG.warn("The changed certificates could not be taken.", failure));
  }
}
