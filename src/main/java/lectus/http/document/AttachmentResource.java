package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.database.AskedDatabase;
import lectus.document.DocumentId;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusException;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * Attachments: the paths below a document. No document has any, so a client that reads or removes
 * one is told that the attachment or the document is missing. Only storing one is not implemented.
 */
final class AttachmentResource implements Resource {
  private static final int TYPICAL_BYTES = 1_024;

  private final CheckedNames names;
  private final DocumentReader documents;

  AttachmentResource(DocumentReader documents, CheckedNames names) {
    this.names = names;
    this.documents = documents;
  }

  @Override
  public void serve(Exchange exchange) {
    AskedDatabase database = names.asked(exchange);
    String id = documentOf(exchange.segments());
    SecretUsers.check(exchange, database.name(), id);
    switch (exchange.method()) {
      case GET, HEAD, DELETE -> exchange.answer(() -> missing(database, id, revision(exchange)));
      case PUT ->
          throw Requests.notImplemented(
              "An attachment is a part of CouchDB that Lectus does not have.");
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,PUT");
    }
  }

  /** The slash in a design document's id may arrive encoded. */
  private static String documentOf(List<String> segments) {
    String name = segments.get(1);
    return name.equals("_design") ? DocumentId.DESIGN_PREFIX + segments.get(2) : name;
  }

  private static Optional<RevisionId> revision(Exchange exchange) {
    return exchange.query().text("rev").map(RevisionId::of);
  }

  private Reply missing(AskedDatabase database, String id, Optional<RevisionId> revision) {
    if (revision.isPresent()) {
      DocumentQuery options = DocumentQuery.DEFAULT.at(revision.get());
      documents.read(database, id, options, new JsonBuffer(TYPICAL_BYTES));
    } else {
      documents.currentRevision(database, id);
    }
    throw LectusException.notFound("Document is missing attachment");
  }
}
