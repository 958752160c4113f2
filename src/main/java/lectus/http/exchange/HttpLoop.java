package lectus.http.exchange;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import java.time.Clock;
import lectus.http.HttpSettings;
import lectus.http.Services;

/** What the exchanges of one event loop share. */
public final class HttpLoop {
  private final Services services;
  private final HttpSettings settings;
  private final Cors cors;
  private final DatabaseFirst databaseFirst;
  private final AccessLog accessLog;
  private final HttpClock clock = new HttpClock(Clock.systemUTC());
  private final BodyPaces bodyPaces;
  private final CharSequence serverHeader;

  public HttpLoop(Services services, HttpSettings settings) {
    this.services = services;
    this.settings = settings;
    this.cors = new Cors(settings.cors());
    this.databaseFirst = new DatabaseFirst(services.catalogue());
    this.accessLog = new AccessLog(settings.accessLog(), Clock.systemUTC());
    this.bodyPaces = new BodyPaces(settings.slowBodySeconds());
    this.serverHeader = HttpHeaders.createOptimized("Lectus/" + settings.version());
  }

  /** Keeps the time on the event loop that calls this. */
  public void start(Vertx vertx) {
    clock.start(vertx);
    bodyPaces.start(vertx);
  }

  /** Writes what the access log still holds; lines that come later do not wait. */
  public void closeLog() {
    accessLog.close();
  }

  Services services() {
    return services;
  }

  HttpSettings settings() {
    return settings;
  }

  Cors cors() {
    return cors;
  }

  DatabaseFirst databaseFirst() {
    return databaseFirst;
  }

  AccessLog accessLog() {
    return accessLog;
  }

  HttpClock clock() {
    return clock;
  }

  BodyPaces bodyPaces() {
    return bodyPaces;
  }

  CharSequence serverHeader() {
    return serverHeader;
  }
}
