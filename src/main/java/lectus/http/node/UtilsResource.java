package lectus.http.node;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Locations;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.folder.FolderResource;
import lectus.http.message.Headers;
import lectus.http.message.Reply;

/**
 * {@code /_utils/}, the place of CouchDB's administration interface, Fauxton. An administrator
 * names the folder that has it.
 */
final class UtilsResource implements Resource {
  private static final String PATH = "/_utils/";

  /** Those of CouchDB 3.5. Fauxton makes functions of texts, and styles in its elements. */
  private static final List<Reply.Header> HEADERS =
      List.of(
          new Reply.Header(Headers.CACHE_CONTROL, "private, must-revalidate"),
          new Reply.Header(
              "Content-Security-Policy",
              "child-src 'self' data: blob:; default-src 'self'; img-src 'self' data:;"
                  + " font-src 'self'; script-src 'self' 'unsafe-eval';"
                  + " style-src 'self' 'unsafe-inline'; frame-src https://blog.couchdb.org;"));

  private final Optional<Resource> folder;

  UtilsResource(Optional<Path> folder) {
    this.folder = folder.map(root -> new FolderResource(root, HEADERS));
  }

  @Override
  public void serve(Exchange exchange) {
    folder.ifPresentOrElse(files -> files.serve(exchange), () -> answerWithout(exchange));
  }

  private static void answerWithout(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(replyWithout(exchange));
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private static Reply replyWithout(Exchange exchange) {
    boolean isAlone = exchange.segments().size() == 1;
    if (isAlone && !exchange.request().path().endsWith("/")) {
      return Reply.empty(301).with(Headers.LOCATION, Locations.ofPath(exchange, PATH));
    }
    throw LectusException.notFound(
        isAlone
            ? "There is no administration interface here. For Fauxton: npm pack fauxton && tar"
                + " xf fauxton-*.tgz, then start Lectus with --utils package/dist/release. Its own page is /_lectus/."
            : "missing");
  }
}
