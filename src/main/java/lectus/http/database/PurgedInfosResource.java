package lectus.http.database;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;

/**
 * {@code /{db}/_purged_infos}: the documents that were purged. Always empty, since there is no
 * {@code _purge}.
 */
final class PurgedInfosResource implements Resource {
  private static final Reply NONE = Reply.json(200, "{\"purged_infos\":[]}");

  private final Catalogue catalogue;
  private final CheckedNames names;

  PurgedInfosResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
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
