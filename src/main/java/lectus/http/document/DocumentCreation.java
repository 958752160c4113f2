package lectus.http.document;

import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;

/** POST of a document to its database. */
record DocumentCreation(DocumentEditing writes, CheckedNames names) implements Resource {
  @Override
  public void serve(Exchange exchange) {
    Requests.wantJson(exchange);
    writes.post(exchange, names.of(exchange));
  }
}
