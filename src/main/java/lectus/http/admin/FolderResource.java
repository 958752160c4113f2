package lectus.http.admin;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Locations;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.http.message.Headers;
import lectus.http.message.Reply;

/** The files of a folder, below a name at the top. A folder in it shows its index. */
public final class FolderResource implements Resource {
  private final Folder folder;
  private final List<Reply.Header> headers;

  /**
   * @param headers of each file
   */
  public FolderResource(Path root, List<Reply.Header> headers) {
    this.folder = new Folder(root);
    this.headers = headers;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange
              .work(() -> find(exchange))
              .onComplete(found -> exchange.guarded(() -> answer(exchange, found)), exchange::fail);
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private Folder.Entry find(Exchange exchange) throws IOException {
    List<String> names = new ArrayList<>(exchange.segments());
    names.remove(0);
    if (exchange.request().path().endsWith("/")) {
      names.add(Folder.INDEX);
    }
    return folder.find(names).orElseThrow(() -> LectusException.notFound("missing"));
  }

  private void answer(Exchange exchange, Folder.Entry found) {
    if (found instanceof ServedFile file) {
      send(exchange, file);
    } else {
      exchange.reply(toSlash(exchange));
    }
  }

  /** Redirects to the path with a slash; without it, a page's links would lead elsewhere. */
  private static Reply toSlash(Exchange exchange) {
    String path = exchange.request().path() + "/";
    return Reply.empty(301).with(Headers.LOCATION, Locations.ofPath(exchange, path));
  }

  private void send(Exchange exchange, ServedFile file) {
    if (isKnown(exchange, file)) {
      exchange.reply(new Reply(304, null, Buffer.buffer(0), headersOf(file)));
    } else {
      exchange.streamTagged(
          () ->
              StreamedBody.ofLength(
                  file.size(), file.type(), headersOf(file), new FileParts(file)));
    }
  }

  /** Dates count only without tags (RFC 9110, section 13.1.3). */
  private static boolean isKnown(Exchange exchange, ServedFile file) {
    return exchange.header(HttpHeaders.IF_NONE_MATCH) != null
        ? exchange.hasSeen(file.tag())
        : Optional.ofNullable(exchange.header(HttpHeaders.IF_MODIFIED_SINCE))
            .filter(file::isUnchangedSince)
            .isPresent();
  }

  private List<Reply.Header> headersOf(ServedFile file) {
    List<Reply.Header> all = new ArrayList<>(headers);
    all.add(new Reply.Header(Headers.ETAG, file.tag().header()));
    all.add(new Reply.Header(HttpHeaders.LAST_MODIFIED, file.lastModified()));
    return all;
  }
}
