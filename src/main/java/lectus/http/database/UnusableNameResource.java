package lectus.http.database;

import java.util.List;
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
 * A name that neither a database nor a document can have, because it is not UTF-8, or begins with
 * an underscore and is not known. Reads find nothing, writes are refused.
 */
final class UnusableNameResource implements Resource {
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
          case GET, HEAD, DELETE -> LectusException.notFound("missing");
          case PUT -> refusal(exchange, path.get(1));
          default -> Requests.notAllowed("DELETE,GET,HEAD,PUT");
        };
    exchange.answer(
        () -> {
          catalogue.open(database);
          throw answer;
        });
  }

  private static LectusException refusal(Exchange exchange, String name) {
    if (!exchange.hasUtf8Names()) {
      return LectusException.badRequest("illegal_docid", "Document id must be valid UTF-8");
    }
    if (DocumentId.isLocal(name)) {
      return LectusException.badRequest("_local documents do not accept attachments.");
    }
    return LectusException.badRequest(
        "illegal_docid", "Only reserved document ids may start with underscore.");
  }
}
