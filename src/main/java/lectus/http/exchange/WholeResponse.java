package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import lectus.error.LectusException;
import lectus.http.message.Headers;
import lectus.http.message.Method;
import lectus.http.message.Reply;

/** Sends an answer that is completely in memory. */
final class WholeResponse {
  private static final int NO_CONTENT = 204;

  private final Exchange exchange;
  private final Reply reply;

  WholeResponse(Exchange exchange, Reply reply) {
    this.exchange = exchange;
    this.reply = exchange.encoding().ofShort(reply);
  }

  /**
   * @throws LectusException service_unavailable (503): others hold too much memory; nothing was
   *     sent
   */
  void send() {
    HttpServerResponse response = exchange.response();
    if (response.closed() || response.ended()) {
      exchange.finished(reply.status(), 0);
    } else if (exchange.method() == Method.GET) {
      exchange.held().whileSent(reply.body(), this::write);
    } else {
      // The outcome of a write is reported however much memory others hold.
      write();
    }
  }

  private Future<Void> write() {
    HttpServerResponse response = exchange.response();
    Buffer body = reply.body();
    exchange.writeHead(reply.status(), reply.contentType(), reply.headers());
    if (reply.status() != NO_CONTENT) {
      response.putHeader(Headers.CONTENT_LENGTH, Integer.toString(body.length()));
    }
    Future<Void> sent =
        exchange.sends(exchange.isHead() ? response.end() : InPieces.end(response, body));
    exchange.finished(reply.status(), exchange.isHead() ? 0 : body.length());
    return sent;
  }
}
