package lectus.http.node;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;

/**
 * {@code /_example/}: a page that shows the changes of chosen databases as they come, over one
 * socket. Its files have a router of their own; names of databases and documents never pass it.
 *
 * <p>Vert.x' StaticHandler would not do: it copies what lies in the jar to a folder first, knows no
 * entity tags, and takes the time of that copy for when the file was changed.
 */
final class ExamplePage implements Resource {
  static final String NAME = "_example";

  private static final String ROOT = "/" + NAME + "/";

  /** Nothing runs or loads but the page's own files, and no other page may frame it. */
  private static final String CONTENT_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private Router router;

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {}
      default -> throw Requests.notAllowed("GET,HEAD");
    }
    List<String> path = exchange.segments();
    if (path.size() > 2 || (path.size() == 2 && ExampleFile.of(path.get(1)) == null)) {
      throw LectusException.notFound("missing");
    }
    exchange.response().endHandler(none -> exchange.streamed());
    router(exchange).handle(exchange.request());
  }

  /** Returns the router, created by the first request for the page. */
  private Router router(Exchange exchange) {
    if (router == null) {
      router = routes(exchange.context().owner());
    }
    return router;
  }

  private static Router routes(Vertx vertx) {
    Router routes = Router.router(vertx);
    routes
        .route("/" + NAME)
        .method(HttpMethod.GET)
        .method(HttpMethod.HEAD)
        .handler(ExamplePage::begin);
    routes
        .route(ROOT + "*")
        .method(HttpMethod.GET)
        .method(HttpMethod.HEAD)
        .handler(ExamplePage::send);
    return routes;
  }

  /** Redirects to the path with a slash; without it, the page's links would lead elsewhere. */
  private static void begin(RoutingContext request) {
    if (request.normalizedPath().equals(ROOT)) {
      request.next();
    } else {
      request.redirect(ROOT);
    }
  }

  private static void send(RoutingContext request) {
    ExampleFile file = ExampleFile.of(request.normalizedPath().substring(ROOT.length()));
    HttpServerResponse response = request.response();
    response.putHeader(HttpHeaders.CONTENT_TYPE, file.type());
    response.putHeader(HttpHeaders.CACHE_CONTROL, "no-cache");
    response.putHeader("Content-Security-Policy", CONTENT_POLICY);
    response.putHeader("X-Content-Type-Options", "nosniff");
    response.putHeader("Referrer-Policy", "no-referrer");
    response.putHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.putHeader("Cross-Origin-Resource-Policy", "same-origin");
    request.etag(file.tag());
    if (request.isFresh()) {
      response.setStatusCode(304).end();
    } else {
      response.end(file.content());
    }
  }
}
