package lectus.http.api;

import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.HttpLoop;

/** Answers, in CouchDB's form, requests that the HTTP parser could not read. */
final class InvalidRequests implements Handler<HttpServerRequest> {
  private final HttpLoop loop;

  InvalidRequests(HttpLoop loop) {
    this.loop = loop;
  }

  @Override
  public void handle(HttpServerRequest request) {
    Exchange exchange = new Exchange(loop, Vertx.currentContext(), request);
    exchange.fail(new LectusException(errorOf(request.decoderResult().cause())));
  }

  private static LectusError errorOf(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return new LectusError.UriTooLong("the request uri is too long");
    }
    if (cause instanceof TooLongFrameException) {
      return new LectusError.BadRequest("bad_request", "The request's headers are too long.");
    }
    return new LectusError.BadRequest("bad_request", "This is no HTTP request.");
  }
}
