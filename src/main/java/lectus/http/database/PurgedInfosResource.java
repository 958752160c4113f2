package lectus.http.database;

import lectus.database.AskedDatabase;
import lectus.feed.database.DatabaseInfo;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;

/** {@code /{db}/_purged_infos}: what was purged lately. */
final class PurgedInfosResource implements Resource {
  private final DatabaseInfo info;
  private final CheckedNames names;

  PurgedInfosResource(DatabaseInfo info, CheckedNames names) {
    this.info = info;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    AskedDatabase database = names.asked(exchange);
    switch (exchange.method()) {
      case GET, HEAD -> exchange.stream(() -> info.purges(database));
      default -> throw Requests.notAllowed("GET");
    }
  }
}
