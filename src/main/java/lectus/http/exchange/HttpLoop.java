package lectus.http.exchange;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import java.time.Clock;
import lectus.database.Catalogue;
import lectus.http.HttpSettings;
import lectus.http.ReaderTurns;
import lectus.http.memory.ClientMemory;

/** The objects that the exchanges of one event loop share. */
public final class HttpLoop {
  private final ClientMemory memory;
  private final ReaderTurns readers;
  private final HttpSettings settings;
  private final Cors cors;
  private final DatabaseFirst databaseFirst;
  private final AccessLog accessLog;
  private final HttpClock clock = new HttpClock(Clock.systemUTC());
  private final BodyDeadlines bodyDeadlines;
  private final CharSequence serverHeader;

  public HttpLoop(
      Catalogue catalogue, ClientMemory memory, ReaderTurns readers, HttpSettings settings) {
    this.memory = memory;
    this.readers = readers;
    this.settings = settings;
    this.cors = new Cors(settings.cors());
    this.databaseFirst = new DatabaseFirst(catalogue);
    this.accessLog = new AccessLog(settings.accessLog(), Clock.systemUTC());
    this.bodyDeadlines = new BodyDeadlines(settings.slowBodySeconds());
    this.serverHeader = HttpHeaders.createOptimized("Lectus/" + settings.version());
  }

  /** Starts the clock on the calling event loop. */
  public void start(Vertx vertx) {
    clock.start(vertx);
    bodyDeadlines.start(vertx);
  }

  /** Writes what the access log still holds; later lines are written at once. */
  public void closeLog() {
    accessLog.close();
  }

  ClientMemory memory() {
    return memory;
  }

  ReaderTurns readers() {
    return readers;
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

  BodyDeadlines bodyDeadlines() {
    return bodyDeadlines;
  }

  CharSequence serverHeader() {
    return serverHeader;
  }
}
