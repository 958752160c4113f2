package lectus.http.database;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;

/**
 * {@code /{db}/_view_cleanup}: removes indexes that no design document refers to. There are no
 * indexes.
 */
final class ViewCleanupResource implements Resource {
  private final Catalogue catalogue;
  private final CheckedNames names;

  ViewCleanupResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    DatabaseName database = names.of(exchange);
    exchange.answerBody(
        ignored -> {
          catalogue.open(database);
          return Reply.ok(202);
        });
  }
}
