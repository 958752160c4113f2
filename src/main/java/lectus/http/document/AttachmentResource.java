package lectus.http.document;

import java.util.List;
import lectus.database.AskedDatabase;
import lectus.document.DocumentId;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;

/** Attachments: the paths below a document, whatever slashes their names have. */
final class AttachmentResource implements Resource {
  private static final String METHODS = "DELETE,GET,HEAD,PUT";

  private final CheckedNames names;
  private final AttachmentRetrieval reads;
  private final AttachmentEditing writes;

  AttachmentResource(CheckedNames names, AttachmentRetrieval reads, AttachmentEditing writes) {
    this.names = names;
    this.reads = reads;
    this.writes = writes;
  }

  @Override
  public void serve(Exchange exchange) {
    AskedDatabase database = names.asked(exchange);
    String id = documentOf(exchange.segments());
    String name = nameOf(exchange.segments());
    SecretUsers.check(exchange, database.name(), id);
    switch (exchange.method()) {
      case GET, HEAD -> reads.get(exchange, database, id, name);
      case PUT -> writes.put(exchange, database, id, name);
      case DELETE -> writes.delete(exchange, database, id, name);
      default -> throw Requests.notAllowed(METHODS);
    }
  }

  private static boolean hasTwoNames(List<String> segments) {
    return segments.get(1).equals("_design");
  }

  /** The slash in a design document's id may arrive encoded. */
  private static String documentOf(List<String> segments) {
    return hasTwoNames(segments) ? DocumentId.DESIGN_PREFIX + segments.get(2) : segments.get(1);
  }

  private static String nameOf(List<String> segments) {
    return String.join("/", segments.subList(hasTwoNames(segments) ? 3 : 2, segments.size()));
  }
}
