package lectus.http.database;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Method;
import lectus.http.message.Reply;

/** {@code /{db}/_ensure_full_commit}: every acknowledged write is on disk already. */
final class EnsureFullCommitResource implements Resource {
  private final Catalogue catalogue;
  private final CheckedNames names;

  EnsureFullCommitResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    if (exchange.method() != Method.POST) {
      throw Requests.notAllowed("POST");
    }
    Requests.wantJson(exchange);
    DatabaseName database = names.of(exchange);
    exchange.answerBody(ignored -> reply(catalogue.open(database).createdAtSeconds()));
  }

  private static Reply reply(long createdAtSeconds) {
    return Reply.json(201, "{\"ok\":true,\"instance_start_time\":\"" + createdAtSeconds + "\"}");
  }
}
