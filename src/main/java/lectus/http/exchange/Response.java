package lectus.http.exchange;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.AcceptedTypes;
import lectus.http.Headers;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.Method;
import lectus.http.Reply;

/** The answer to one request: its head, and as a whole. For the connection's event loop. */
final class Response {
  private static final int NO_CONTENT = 204;
  private static final int NOT_MODIFIED = 304;
  private static final int INTERNAL_ERROR = 500;
  private static final String BASIC = "Basic realm=\"server\"";

  private final Exchange exchange;
  private final HttpServerResponse out;

  /** Whether errors are answered at once, without looking up the database. */
  private boolean failsAtOnce;

  Response(Exchange exchange) {
    this.exchange = exchange;
    this.out = exchange.response();
  }

  /** Sends a whole answer, or else the reason why it cannot be sent. */
  void whole(Reply reply) {
    try {
      send(exchange.encoding().ofShort(reply));
    } catch (RuntimeException | Error unsent) {
      if (reply.status() == INTERNAL_ERROR) {
        exchange.reset();
      } else {
        fail(unsent);
      }
    }
  }

  /**
   * @throws LectusException service_unavailable (503): others hold too much memory; nothing was
   *     sent
   */
  private void send(Reply reply) {
    if (out.closed() || out.ended()) {
      exchange.finished(reply.status(), 0);
    } else if (exchange.method() == Method.GET) {
      exchange.held().whileSent(reply.body(), () -> write(reply));
    } else {
      // The outcome of a write is reported however much memory others hold.
      write(reply);
    }
  }

  private Future<Void> write(Reply reply) {
    Buffer body = reply.body();
    writeHead(reply.status(), reply.contentType(), reply.headers());
    if (reply.status() != NO_CONTENT) {
      out.putHeader(Headers.CONTENT_LENGTH, Integer.toString(body.length()));
    }
    boolean isHead = exchange.isHead();
    Future<Void> sent = exchange.sends(isHead ? out.end() : Outbox.end(out, body));
    exchange.finished(reply.status(), isHead ? 0 : body.length());
    return sent;
  }

  /**
   * Sets the status and the headers. They are sent with the first byte of the body.
   *
   * @param contentType null: there is no body
   * @param headers in addition to those that every answer has
   */
  void writeHead(int status, CharSequence contentType, List<Reply.Header> headers) {
    out.setStatusCode(status);
    String phrase = phrase(status);
    if (phrase != null) {
      out.setStatusMessage(phrase);
    }
    out.putHeader(Headers.CACHE_CONTROL, Headers.MUST_REVALIDATE);
    if (contentType != null) {
      out.putHeader(Headers.CONTENT_TYPE, contentType);
    }
    out.putHeader(Headers.DATE, exchange.loop().httpDate());
    out.putHeader(Headers.SERVER, exchange.loop().serverHeader());
    out.putHeader(Headers.CONTENT_TYPE_OPTIONS, Headers.NOSNIFF);
    out.putHeader(Headers.REQUEST_ID, exchange.id());
    out.putHeader(Headers.BODY_TIME, Headers.ZERO);
    for (Reply.Header header : headers) {
      if (mayHave(header.name())) {
        out.putHeader(header.name(), header.value());
      }
    }
    // Whoever logs in or out gets a cookie of this answer's own.
    Optional<String> renewed = exchange.identity().renewedCookie();
    if (renewed.isPresent() && !out.headers().contains(HttpHeaders.SET_COOKIE)) {
      out.putHeader(HttpHeaders.SET_COOKIE, renewed.get());
    }
    boolean varies =
        out.headers().contains(HttpHeaders.VARY) || exchange.encoding().varies(contentType);
    if (exchange.settings().cors().enabled()) {
      Cors.addTo(exchange);
    }
    if (varies || status == NOT_MODIFIED) {
      varyByEncoding();
    }
  }

  /** Returns CouchDB's phrase; null where the usual one applies. */
  private static String phrase(int status) {
    return switch (status) {
      case 404 -> "Object Not Found";
      case 412 -> "Precondition Failed";
      default -> null;
    };
  }

  /** HTTP/2 has no connection-specific fields (RFC 9113, section 8.2.2). */
  private boolean mayHave(CharSequence name) {
    boolean isAboutConnection = name == HttpHeaders.CONNECTION || name == HttpHeaders.UPGRADE;
    return !isAboutConnection || exchange.request().version() != HttpVersion.HTTP_2;
  }

  /** Answers may vary by origin, too. */
  private void varyByEncoding() {
    String others = out.headers().get(HttpHeaders.VARY);
    String encoding = HttpHeaders.ACCEPT_ENCODING.toString();
    boolean isAlone = others == null || others.equalsIgnoreCase(encoding);
    out.putHeader(HttpHeaders.VARY, isAlone ? encoding : others + ", " + encoding);
  }

  /**
   * As {@link #writeHead}, for a body of unknown length. HTTP/1.0 has no chunks, so there the end
   * of the connection ends the body, even if the client asked for keep-alive (RFC 9112, section
   * 6.3).
   */
  void writeStreamHead(int status, CharSequence contentType, List<Reply.Header> headers) {
    writeHead(status, contentType, headers);
    out.setChunked(true);
    if (isOfFirstHttp()) {
      out.headersEndHandler(none -> out.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE));
      out.endHandler(sent -> exchange.cut());
    }
  }

  /** Sends the head before any of the body. Vert.x would announce chunks to every client. */
  void sendHead() {
    if (isOfFirstHttp()) {
      out.write(Buffer.buffer());
    } else {
      out.writeHead();
    }
  }

  private boolean isOfFirstHttp() {
    return exchange.request().version() == HttpVersion.HTTP_1_0;
  }

  /** From now on errors are answered at once, without looking up the database. */
  void failAtOnce() {
    failsAtOnce = true;
  }

  /**
   * Answers an error, or that the database does not exist; resets the connection if an answer has
   * begun. It is not a failure if the client left before its answer was begun.
   */
  void fail(Throwable failure) {
    if (Failures.isDeparture(failure)) {
      exchange.abandoned();
      return;
    }
    LectusError error = Failures.errorOf(failure, exchange.label());
    if (out.headWritten()) {
      exchange.reset();
    } else if (error instanceof LectusError.NotFound && exchange.passLate()) {
      failsAtOnce = true;
    } else if (!failsAtOnce && dependsOnDatabase(error)) {
      failsAtOnce = true;
      exchange.answer(
          () -> {
            exchange.loop().catalogue().open(DatabaseName.of(exchange.segment(0)));
            throw new LectusException(error);
          });
    } else {
      whole(error(error));
    }
  }

  /**
   * CouchDB opens a database before it looks at a request to it. So errors of a request are only
   * reported if the database exists; clients learn from the 404 that they have to create it.
   */
  private boolean dependsOnDatabase(LectusError error) {
    boolean isAboutRequest =
        error instanceof LectusError.BadRequest
            || error instanceof LectusError.MethodNotAllowed
            || error instanceof LectusError.UnsupportedMediaType
            || error instanceof LectusError.NotImplemented;
    if (!isAboutRequest || !exchange.isAimed() || !exchange.isAdmitted()) {
      return false;
    }
    List<String> path = exchange.target().segments();
    if (path.isEmpty() || !DatabaseName.isLegal(path.get(0))) {
      return false;
    }
    // Databases are created and deleted without being opened.
    return path.size() > 1
        || (exchange.method() != Method.PUT && exchange.method() != Method.DELETE);
  }

  /**
   * Returns the answer to an error. A client that has to log in is told so: a {@code
   * WWW-Authenticate} makes browsers ask for a password, so as in CouchDB only a client that wishes
   * for one gets it, and everybody where nobody may do anything without a log-in. A client that
   * takes pages and no JSON is sent to the page where one logs in.
   */
  private Reply error(LectusError error) {
    Reply reply = Reply.error(error);
    if (!(error instanceof LectusError.Unauthorized)) {
      return reply;
    }
    AccessSettings access = exchange.settings().access();
    String challenge = exchange.header(Headers.WANTED_CHALLENGE);
    if (challenge == null) {
      challenge = access.challenge().orElse(access.requiresValidUser() ? BASIC : null);
    }
    if (challenge != null) {
      return reply.with(Headers.CHALLENGE, challenge);
    }
    AcceptedTypes accepted = exchange.accepts();
    return access.logInPage().isEmpty()
            || accepted.include("application/json")
            || !accepted.include("text/html")
        ? reply
        : reply.redirecting(logInPage(access.logInPage().get(), error));
  }

  private String logInPage(String page, LectusError error) {
    return PublicUrl.ofPath(
        exchange,
        page
            + "?return="
            + PublicUrl.encoded(exchange.rawPath())
            + "&reason="
            + PublicUrl.encoded(error.reason()));
  }
}
