package lectus.http.document;

import java.util.Map;
import lectus.database.AskedDatabase;
import lectus.document.list.AllDocs;
import lectus.document.list.AllDocsQuery;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;

/**
 * {@code /{db}/_all_docs}, {@code _design_docs}, {@code _local_docs}, each with {@code /queries}.
 */
final class AllDocsResource implements Resource {
  private final AllDocs allDocs;
  private final CheckedNames names;
  private final Listing listing;

  AllDocsResource(AllDocs allDocs, CheckedNames names, Listing listing) {
    this.allDocs = allDocs;
    this.names = names;
    this.listing = listing;
  }

  @Override
  public void serve(Exchange exchange) {
    AskedDatabase database = names.asked(exchange);
    Map<String, String> parameters = exchange.query().asMap();
    if (exchange.segments().size() == 3) {
      serveQueries(exchange, database, parameters);
      return;
    }
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.stream(
              () -> allDocs.answer(database, AllDocsQuery.parse(listing, parameters, null)));
      case POST -> {
        Requests.wantJson(exchange);
        exchange.streamBody(
            body -> allDocs.answer(database, AllDocsQuery.parse(listing, parameters, body)));
      }
      default -> throw Requests.notAllowed("GET,HEAD,POST");
    }
  }

  private void serveQueries(
      Exchange exchange, AskedDatabase database, Map<String, String> parameters) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    exchange.streamBody(
        body -> allDocs.answers(database, AllDocsQuery.parseQueries(listing, parameters, body)));
  }
}
