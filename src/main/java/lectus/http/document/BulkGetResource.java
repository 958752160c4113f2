package lectus.http.document;

import lectus.database.DatabaseName;
import lectus.document.bulk.BulkGet;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;

/** {@code /{db}/_bulk_get}. */
final class BulkGetResource implements Resource {
  private final BulkGet bulkGet;
  private final DatabaseNames names;

  BulkGetResource(Services services, DatabaseNames names) {
    this.bulkGet = services.bulkGet();
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    DatabaseName database = names.of(exchange);
    boolean revs = exchange.query().isTrue("revs");
    boolean latest = exchange.query().isTrue("latest");
    exchange.streamBody(body -> bulkGet.answer(database, body, revs, latest));
  }
}
