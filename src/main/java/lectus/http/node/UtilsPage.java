package lectus.http.node;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Locations;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Headers;
import lectus.http.message.Reply;

/**
 * {@code /_utils/}, the place of CouchDB's administration interface: a page that says what there is
 * instead.
 */
final class UtilsPage implements Resource {
  private static final String PATH = "/_utils/";

  private static final Reply PAGE =
      new Reply(
              200,
              HttpHeaders.createOptimized("text/html; charset=utf-8"),
              Buffer.buffer(
                  """
                  <!doctype html>
                  <html lang="en">
                  <head><meta charset="utf-8"><title>Lectus</title></head>
                  <body>
                  <p>Lectus runs, and an administration interface such as CouchDB's Fauxton will be
                  here; until then there is <a href="../_example/">a page that shows changes as they
                  happen</a>, and <a href="../_all_dbs">the list of all databases</a>.</p>
                  </body>
                  </html>
                  """),
              List.of())
          .with(
              "Content-Security-Policy",
              "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
          .with("Referrer-Policy", "no-referrer")
          .with("X-Content-Type-Options", "nosniff");

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(reply(exchange));
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  /** Redirects to the path with a slash; without it, the page's links would lead elsewhere. */
  private static Reply reply(Exchange exchange) {
    if (exchange.segments().size() > 1) {
      throw LectusException.notFound("missing");
    }
    return exchange.request().path().endsWith("/")
        ? PAGE
        : Reply.empty(301).with(Headers.LOCATION, Locations.ofPath(exchange, PATH));
  }
}
