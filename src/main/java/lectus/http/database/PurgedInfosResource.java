package lectus.http.database;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;

/** {@code /{db}/_purged_infos}: what was purged: nothing, for there is no {@code _purge}. */
final class PurgedInfosResource implements Resource {
  private static final Reply NONE = Reply.json(200, "{\"purged_infos\":[]}");

  private final Catalogue catalogue;
  private final DatabaseNames names;

  PurgedInfosResource(Services services, DatabaseNames names) {
    this.catalogue = services.catalogue();
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answer(
              () -> {
                catalogue.open(database);
                return NONE;
              });
      default -> throw Requests.notAllowed("GET");
    }
  }
}
