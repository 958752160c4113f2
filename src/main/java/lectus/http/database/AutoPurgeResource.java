package lectus.http.database;

import lectus.database.AskedDatabase;
import lectus.database.DatabaseName;
import lectus.document.purge.AutoPurge;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;

/** {@code /{db}/_auto_purge}: for how long tombstones are kept. */
final class AutoPurgeResource implements Resource {
  private final AutoPurge settings;
  private final CheckedNames names;

  AutoPurgeResource(AutoPurge settings, CheckedNames names) {
    this.settings = settings;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        AskedDatabase database = names.asked(exchange);
        exchange.answer(() -> Reply.json(200, settings.get(database)));
      }
      case PUT -> {
        DatabaseName database = names.of(exchange);
        exchange.answerBodyByChange(body -> put(database, body));
      }
      default -> throw Requests.notAllowed("GET,PUT,HEAD");
    }
  }

  private Reply put(DatabaseName database, byte[] body) {
    settings.put(database, body);
    return Reply.ok(201);
  }
}
