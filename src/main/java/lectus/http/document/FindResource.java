package lectus.http.document;

import java.util.Optional;
import lectus.database.AskedDatabase;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;
import lectus.mango.query.Queries;

/** {@code /{db}/_find} and {@code /{db}/_explain}, also of a partition. */
final class FindResource implements Resource {
  private static final String PARTITION = "_partition";

  private final Queries queries;
  private final CheckedNames names;
  private final boolean explains;

  FindResource(Queries queries, CheckedNames names, boolean explains) {
    this.queries = queries;
    this.names = names;
    this.explains = explains;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    AskedDatabase database = names.asked(exchange);
    Optional<String> partition = partition(exchange);
    if (explains) {
      exchange.answerBody(body -> Reply.json(200, queries.explain(database, body, partition)));
    } else {
      exchange.streamBody(body -> queries.find(database, body, partition));
    }
  }

  private static Optional<String> partition(Exchange exchange) {
    return exchange.segment(1).equals(PARTITION)
        ? Optional.of(exchange.segment(2))
        : exchange.query().text("partition");
  }
}
