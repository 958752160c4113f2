package lectus.http.document;

import lectus.database.AskedDatabase;
import lectus.document.edit.InteractiveEdit;
import lectus.document.read.DocumentReader;
import lectus.http.exchange.Exchange;

/**
 * DELETE of a document. A document that does not exist, or is deleted, answers 404 whatever the
 * revision, so it is looked up before anything is written.
 */
final class DocumentDeletion {
  private final DocumentReader documents;
  private final DocumentEditing writes;

  DocumentDeletion(DocumentReader documents, DocumentEditing writes) {
    this.documents = documents;
    this.writes = writes;
  }

  void delete(Exchange exchange, AskedDatabase database, String id) {
    exchange
        .work(() -> documents.currentRevision(database, id))
        .onComplete(live -> exchange.guarded(() -> submit(exchange, database, id)), exchange::fail);
  }

  private void submit(Exchange exchange, AskedDatabase database, String id) {
    InteractiveEdit edit = InteractiveEdit.deletion(id, DocumentEditing.givenRevision(exchange));
    writes.submit(exchange, database.name(), edit, 0, done -> EditReplies.of(done, 200, null));
  }
}
