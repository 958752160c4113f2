package lectus.http.document;

import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.document.read.DocumentReader;
import lectus.document.read.ReadOptions;
import lectus.error.LectusException;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * What a path names below a document: one of its attachments. No document has any, so whoever reads
 * or removes one is told that it is missing, or that the document is; only storing one is what
 * Lectus does not do.
 */
final class AttachmentResource implements Resource {
  private static final int TYPICAL_BYTES = 1_024;

  private final DatabaseNames names;
  private final DocumentReader documents;

  AttachmentResource(Services services, DatabaseNames names) {
    this.names = names;
    this.documents = services.documents();
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    String id = documentOf(exchange.segments());
    switch (exchange.method()) {
      case GET, HEAD, DELETE -> exchange.answer(() -> missing(database, id, revision(exchange)));
      case PUT ->
          throw Requests.notImplemented(
              "An attachment is a part of CouchDB that Lectus does not have.");
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,PUT");
    }
  }

  /** The slash in a design document's id may have come encoded. */
  private static String documentOf(List<String> segments) {
    String name = segments.get(1);
    return name.equals("_design") ? DocumentId.DESIGN_PREFIX + segments.get(2) : name;
  }

  private static Optional<RevisionId> revision(Exchange exchange) {
    return exchange.query().text("rev").map(RevisionId::of);
  }

  private Reply missing(DatabaseName database, String id, Optional<RevisionId> revision) {
    if (revision.isPresent()) {
      ReadOptions options = ReadOptions.DEFAULT.at(revision.get());
      documents.read(database, id, options, new JsonBuffer(TYPICAL_BYTES));
    } else {
      documents.currentRevision(database, id);
    }
    throw LectusException.notFound("Document is missing attachment");
  }
}
