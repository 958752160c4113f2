package lectus.http.database;

import java.util.List;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.document.read.DocumentReader;
import lectus.error.LectusException;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;

/**
 * {@code /{db}/_compact} and {@code /{db}/_compact/{designDocument}}. Stores free by themselves
 * what is no longer needed, so there is nothing to do; the client is told that it is being done.
 */
final class CompactionResource implements Resource {
  private final Catalogue catalogue;
  private final DocumentReader documents;
  private final DatabaseNames names;

  CompactionResource(Services services, DatabaseNames names) {
    this.catalogue = services.catalogue();
    this.documents = services.documents();
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    DatabaseName database = names.of(exchange);
    List<String> path = exchange.segments();
    exchange.answerBody(
        ignored -> path.size() == 2 ? database(database) : designDocument(database, path.get(2)));
  }

  private Reply database(DatabaseName database) {
    catalogue.open(database);
    return Reply.ok(202);
  }

  /**
   * @throws LectusException {@code not_found}: there is none of this name
   */
  private Reply designDocument(DatabaseName database, String name) {
    documents.currentRevision(database, DocumentId.DESIGN_PREFIX + name);
    return Reply.ok(202);
  }
}
