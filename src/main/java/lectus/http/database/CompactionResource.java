package lectus.http.database;

import java.util.List;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.document.DocumentId;
import lectus.document.read.DocumentReader;
import lectus.error.LectusException;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;

/**
 * {@code /{db}/_compact} and {@code /{db}/_compact/{designDocument}}. Stores free their space by
 * themselves, so there is nothing to do; the client is told that compaction was started.
 */
final class CompactionResource implements Resource {
  private final Catalogue catalogue;
  private final DocumentReader documents;
  private final CheckedNames names;

  CompactionResource(Catalogue catalogue, DocumentReader documents, CheckedNames names) {
    this.catalogue = catalogue;
    this.documents = documents;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    AskedDatabase database = names.asked(exchange);
    List<String> path = exchange.segments();
    exchange.answerBody(
        ignored -> path.size() == 2 ? database(database) : designDocument(database, path.get(2)));
  }

  private Reply database(AskedDatabase database) {
    catalogue.open(database.name());
    return Reply.ok(202);
  }

  /**
   * @throws LectusException {@code not_found}: no design document has this name
   */
  private Reply designDocument(AskedDatabase database, String name) {
    documents.currentRevision(database, DocumentId.DESIGN_PREFIX + name);
    return Reply.ok(202);
  }
}
