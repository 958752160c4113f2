package lectus.http;

import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** Answers, in CouchDB's form, what the HTTP parser could not read, and closes the connection. */
final class InvalidRequests implements Handler<HttpServerRequest> {
  private final HttpApi api;

  InvalidRequests(HttpApi api) {
    this.api = api;
  }

  @Override
  public void handle(HttpServerRequest request) {
    Exchange exchange = new Exchange(api, Vertx.currentContext(), request);
    request.response().putHeader(Headers.CONNECTION, Headers.CLOSE);
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
