package lectus.http.document;

import lectus.database.AskedDatabase;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.mango.query.Queries;

/** {@code /{db}/_design/{name}/_info}. */
final class DesignInfoResource implements Resource {
  private final Queries queries;
  private final CheckedNames names;

  DesignInfoResource(Queries queries, CheckedNames names) {
    this.queries = queries;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.GET && exchange.method() != Method.HEAD) {
      throw Requests.notAllowed("GET,HEAD");
    }
    AskedDatabase database = names.asked(exchange);
    String design = exchange.segment(2);
    exchange.answer(() -> Reply.json(200, queries.info(database, design)));
  }
}
