package lectus.http.document;

import lectus.database.DatabaseName;
import lectus.document.edit.DocumentEdit;
import lectus.document.read.DocumentReader;
import lectus.http.exchange.Exchange;

/**
 * DELETE of a document. One that is not there, or is deleted, answers 404 whatever the revision, so
 * it is looked up before anything is written.
 */
final class DocumentDeletion {
  private final DocumentReader documents;
  private final DocumentWrites writes;

  DocumentDeletion(DocumentReader documents, DocumentWrites writes) {
    this.documents = documents;
    this.writes = writes;
  }

  void delete(Exchange exchange, DatabaseName database, String id) {
    exchange
        .work(() -> documents.currentRevision(database, id))
        .onComplete(live -> exchange.guarded(() -> submit(exchange, database, id)), exchange::fail);
  }

  private void submit(Exchange exchange, DatabaseName database, String id) {
    DocumentEdit edit = DocumentEdit.deletion(id, DocumentWrites.givenRevision(exchange));
    writes.submit(exchange, database, edit, 0, done -> EditReplies.of(done, 200, null));
  }
}
