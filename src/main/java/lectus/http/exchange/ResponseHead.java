package lectus.http.exchange;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import lectus.http.message.ErrorStatus;
import lectus.http.message.Headers;
import lectus.http.message.Reply;

/** The status and the headers of one answer. They are sent with the first byte of its body. */
final class ResponseHead {
  private static final int NOT_MODIFIED = 304;

  private final Exchange exchange;
  private final HttpServerResponse response;

  ResponseHead(Exchange exchange) {
    this.exchange = exchange;
    this.response = exchange.response();
  }

  /**
   * @param contentType null: there is no body
   * @param headers in addition to those that every answer has
   */
  void write(int status, CharSequence contentType, List<Reply.Header> headers) {
    writeStatus(status);
    response.putHeader(Headers.CACHE_CONTROL, Headers.MUST_REVALIDATE);
    if (contentType != null) {
      response.putHeader(Headers.CONTENT_TYPE, contentType);
    }
    response.putHeader(Headers.DATE, exchange.loop().clock().httpDate());
    response.putHeader(Headers.SERVER, exchange.loop().serverHeader());
    response.putHeader(Headers.CONTENT_TYPE_OPTIONS, Headers.NOSNIFF);
    response.putHeader(Headers.REQUEST_ID, exchange.id());
    response.putHeader(Headers.BODY_TIME, Headers.ZERO);
    for (Reply.Header header : headers) {
      if (mayHave(header.name())) {
        response.putHeader(header.name(), header.value());
      }
    }
    exchange.caller().renewedCookie().ifPresent(this::renew);
    boolean varies =
        response.headers().contains(HttpHeaders.VARY) || exchange.encoding().varies(contentType);
    exchange.loop().cors().addTo(exchange);
    if (varies || status == NOT_MODIFIED) {
      varyByEncoding();
    }
  }

  /** Answers may vary by origin, too. */
  private void varyByEncoding() {
    String others = response.headers().get(HttpHeaders.VARY);
    String encoding = HttpHeaders.ACCEPT_ENCODING.toString();
    boolean isAlone = others == null || others.equalsIgnoreCase(encoding);
    response.putHeader(HttpHeaders.VARY, isAlone ? encoding : others + ", " + encoding);
  }

  /** Unless the answer has a cookie of its own: whoever logs in or out gets that one. */
  private void renew(String cookie) {
    if (!response.headers().contains(HttpHeaders.SET_COOKIE)) {
      response.putHeader(HttpHeaders.SET_COOKIE, cookie);
    }
  }

  /**
   * Prepares the head for a body of unknown length. HTTP/1.0 has no chunks, so there the end of the
   * connection ends the body, even if the client asked for keep-alive (RFC 9112, section 6.3).
   */
  void precedesStream() {
    response.setChunked(true);
    if (isOfFirstHttp()) {
      response.headersEndHandler(
          none -> response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE));
      response.endHandler(sent -> exchange.cut());
    }
  }

  /** Sends the head before any of the body. Vert.x would announce chunks to every client. */
  void send() {
    if (isOfFirstHttp()) {
      response.write(Buffer.buffer());
    } else {
      response.writeHead();
    }
  }

  private boolean isOfFirstHttp() {
    return exchange.request().version() == HttpVersion.HTTP_1_0;
  }

  private void writeStatus(int status) {
    response.setStatusCode(status);
    String phrase = ErrorStatus.phrase(status);
    if (phrase != null) {
      response.setStatusMessage(phrase);
    }
  }

  /** HTTP/2 has no connection-specific fields (RFC 9113, section 8.2.2). */
  private boolean mayHave(CharSequence name) {
    boolean isAboutConnection = name == HttpHeaders.CONNECTION || name == HttpHeaders.UPGRADE;
    return !isAboutConnection || exchange.request().version() != HttpVersion.HTTP_2;
  }
}
