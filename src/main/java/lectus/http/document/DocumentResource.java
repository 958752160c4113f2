package lectus.http.document;

import java.util.List;
import java.util.function.Supplier;
import lectus.account.UserDocuments.PublicFields;
import lectus.database.DatabaseRequest;
import lectus.document.edit.InteractiveEdit;
import lectus.document.read.DocumentReader;
import lectus.http.Method;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;

/** {@code /{db}/{docid}}, design documents included. */
final class DocumentResource implements Resource {
  static final String METHODS = "DELETE,GET,HEAD,POST,PUT,COPY";

  private final Supplier<PublicFields> publicFields;
  private final DocumentRetrieval reads;
  private final DocumentEditing writes;
  private final AttachmentEditing attached;
  private final DocumentDeletion deletion;
  private final DocumentCopy copy;

  DocumentResource(
      DocumentReader documents,
      DocumentCopy copy,
      DocumentEditing writes,
      AttachmentEditing attached,
      Supplier<PublicFields> publicFields) {
    this.publicFields = publicFields;
    this.reads = new DocumentRetrieval(documents);
    this.writes = writes;
    this.attached = attached;
    this.deletion = new DocumentDeletion(documents, writes);
    this.copy = copy;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseRequest database = exchange.database();
    String id = DocumentResource.idOf(exchange.segments());
    if (isReading(exchange) && SecretUsers.isOthers(exchange, database.name(), id)) {
      reads.getPublic(exchange, database, id, publicFields.get());
      return;
    }
    if (exchange.method() != Method.PUT) {
      SecretUsers.check(exchange, database.name(), id);
    }
    switch (exchange.method()) {
      case GET, HEAD -> reads.get(exchange, database, id);
      case PUT -> writes.put(exchange, database.name(), id);
      case DELETE -> deletion.delete(exchange, database, id);
      case COPY -> copy.copy(exchange, database, id);
      case POST -> attached.post(exchange, database, id);
      default -> throw Requests.notAllowed(METHODS);
    }
  }

  private static boolean isReading(Exchange exchange) {
    return exchange.method() == Method.GET || exchange.method() == Method.HEAD;
  }

  /**
   * DELETE of a document. A document that does not exist, or is deleted, answers 404 whatever the
   * revision, so it is looked up before anything is written.
   */
  private static final class DocumentDeletion {
    private final DocumentReader documents;
    private final DocumentEditing writes;

    DocumentDeletion(DocumentReader documents, DocumentEditing writes) {
      this.documents = documents;
      this.writes = writes;
    }

    void delete(Exchange exchange, DatabaseRequest database, String id) {
      exchange
          .work(() -> documents.currentRevision(database, id))
          .onComplete(
              live -> exchange.guarded(() -> submit(exchange, database, id)), exchange::fail);
    }

    private void submit(Exchange exchange, DatabaseRequest database, String id) {
      InteractiveEdit edit = InteractiveEdit.deletion(id, DocumentEditing.givenRevision(exchange));
      writes.submit(exchange, database.name(), edit, 0, done -> WriteReply.of(done, 200, null));
    }
  }

  /**
   * Joins the path segments after the database's name to a document's id.
   *
   * @param segments of a path that names a document: {@code _design/x} and {@code _local/x} may
   *     arrive as two names or as one with an encoded slash
   */
  static String idOf(List<String> segments) {
    String id = segments.get(1);
    return segments.size() == 2 ? id : id + '/' + segments.get(2);
  }
}
