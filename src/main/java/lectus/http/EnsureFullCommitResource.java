package lectus.http;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;

/** {@code /{db}/_ensure_full_commit}: every write that was answered is on disk already. */
final class EnsureFullCommitResource implements Resource {
  private final Catalogue catalogue;
  private final DatabaseNames names;

  EnsureFullCommitResource(Services services, DatabaseNames names) {
    this.catalogue = services.catalogue();
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
