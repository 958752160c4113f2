package lectus.http.database;

import java.util.List;
import java.util.Set;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.error.LectusException;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;

/**
 * A name that neither a database nor a document or attachment can have, because it is not UTF-8, or
 * begins with an underscore and is not known. Reads find nothing, writes are refused; CouchDB looks
 * for a document that is to be deleted, and refuses an attachment.
 */
final class UnusableNameResource implements Resource {
  /** What documents' ids begin with that take two names of a path. */
  private static final Set<String> LONG_IDS = Set.of("_design", "_local");

  private final Catalogue catalogue;
  private final CheckedNames names;

  UnusableNameResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    List<String> path = exchange.segments();
    if (path.size() == 1 && exchange.method() == Method.PUT) {
      DatabaseName.of(path.get(0));
    }
    DatabaseName database = names.of(exchange);
    LectusException answer =
        switch (exchange.method()) {
          case GET, HEAD -> LectusException.notFound("missing");
          case DELETE ->
              isUtf8Attachment(exchange)
                  ? LectusException.notFound("missing")
                  : refusal(exchange, path.get(1));
          case PUT -> refusal(exchange, path.get(1));
          default -> Requests.notAllowed("DELETE,GET,HEAD,PUT");
        };
    exchange.answer(
        () -> {
          catalogue.open(database);
          throw answer;
        });
  }

  /** Whether an attachment's name, if the path has one, is UTF-8. */
  private static boolean isUtf8Attachment(Exchange exchange) {
    return exchange.isUtf8From(LONG_IDS.contains(exchange.segment(1)) ? 3 : 2);
  }

  private static LectusException refusal(Exchange exchange, String name) {
    boolean isUtf8Attachment = isUtf8Attachment(exchange);
    if (DocumentId.isLocal(name) || (name.equals("_local") && !isUtf8Attachment)) {
      return LectusException.badRequest("_local documents do not accept attachments.");
    }
    if (!isUtf8Attachment) {
      return LectusException.badRequest("Attachment name is not UTF-8 encoded");
    }
    if (!exchange.isUtf8From(0)) {
      return LectusException.badRequest("illegal_docid", "Document id must be valid UTF-8");
    }
    return LectusException.badRequest(
        "illegal_docid", "Only reserved document ids may start with underscore.");
  }
}
