package lectus.http.api;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import lectus.error.LectusException;
import lectus.http.api.FolderResource.FileTypes;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;

/**
 * A page in the jar that asks for nothing but its own files and this server. Its files have a
 * router of their own; names of databases and documents never pass it.
 *
 * <p>Vert.x' StaticHandler would not do: it copies what lies in the jar to a folder first, knows no
 * entity tags, and takes the time of that copy for when the file was changed.
 */
final class PackagedPage implements Resource {
  /** What both pages look like, and how they hear of changes. */
  private static final List<String> SHARED =
      List.of("example/page.css", "example/changes-socket.js", "example/icon.svg");

  /** Nothing runs or loads but the page's own files, and no other page may frame it. */
  private static final String CONTENT_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private static final List<String> OF_DASHBOARD =
      List.of(
          "dashboard.css dashboard.js elements.js server.js figures.js plot.js feed.js shards.js"
              .split(" "));

  private final String name;
  private final Map<String, PackagedFile> files = new HashMap<>();
  private Router router;

  private PackagedPage(String name, String folder, List<String> more) {
    this.name = name;
    files.put("", PackagedFile.read(folder + "/index.html"));
    SHARED.forEach(this::add);
    more.forEach(file -> add(folder + "/" + file));
  }

  private void add(String path) {
    files.put(path.substring(path.indexOf('/') + 1), PackagedFile.read(path));
  }

  /** {@code /_example/}: the changes of chosen databases as they come, over one socket. */
  static PackagedPage example() {
    return new PackagedPage("_example", "example", List.of("page.js"));
  }

  /** {@code /_lectus/}: what a server does, as it does it. */
  static PackagedPage dashboard() {
    return new PackagedPage("_lectus", "dashboard", OF_DASHBOARD);
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {}
      default -> throw Requests.notAllowed("GET,HEAD");
    }
    if (!has(exchange)) {
      throw LectusException.notFound("missing");
    }
    exchange.response().endHandler(none -> exchange.streamed());
    router(exchange).handle(exchange.request());
  }

  private boolean has(Exchange exchange) {
    List<String> path = exchange.target().segments();
    boolean isFolder = exchange.request().path().endsWith("/");
    return path.size() == 1 || (path.size() == 2 && files.containsKey(path.get(1)) && !isFolder);
  }

  private String root() {
    return "/" + name + "/";
  }

  private Router router(Exchange exchange) {
    if (router == null) {
      router = routes(exchange.context().owner());
    }
    return router;
  }

  private Router routes(Vertx vertx) {
    Router routes = Router.router(vertx);
    routes.route("/" + name).method(HttpMethod.GET).method(HttpMethod.HEAD).handler(this::begin);
    routes.route(root() + "*").method(HttpMethod.GET).method(HttpMethod.HEAD).handler(this::send);
    return routes;
  }

  /** Redirects to the path with a slash; without it, the page's links would lead elsewhere. */
  private void begin(RoutingContext request) {
    if (request.normalizedPath().equals(root())) {
      request.next();
    } else {
      request.redirect(root());
    }
  }

  private void send(RoutingContext request) {
    PackagedFile file = files.get(request.normalizedPath().substring(root().length()));
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

  /**
   * A file of a page in the jar.
   *
   * @param type its media type
   * @param tag its ETag, which changes with the content
   */
  private record PackagedFile(String type, String tag, Buffer content) {
    /**
     * @param path from this package on
     */
    static PackagedFile read(String path) {
      try (InputStream in = PackagedFile.class.getResourceAsStream(path)) {
        byte[] bytes = in.readAllBytes();
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        String tag = HexFormat.of().toHexDigits((int) sum.getValue());
        return new PackagedFile(FileTypes.of(path), tag, Buffer.buffer(bytes));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
