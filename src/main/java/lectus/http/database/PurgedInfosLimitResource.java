package lectus.http.database;

import com.fasterxml.jackson.core.JsonToken;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonInput;

/** {@code /{db}/_purged_infos_limit}: the number of purges to remember. */
final class PurgedInfosLimitResource implements Resource {
  /** A long holds any number of this many digits. */
  private static final int MOST_DIGITS = 18;

  private final Catalogue catalogue;
  private final CheckedNames names;

  PurgedInfosLimitResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> get(database));
      case PUT -> exchange.answerBodyByChange(body -> put(database, limit(body)));
      default -> throw Requests.notAllowed("GET,PUT");
    }
  }

  private Reply get(DatabaseName database) {
    long limit = catalogue.open(database).configuration().purgedInfosLimit();
    return Reply.json(200, Long.toString(limit));
  }

  private Reply put(DatabaseName database, long limit) {
    catalogue.configure(database, before -> before.withPurgedInfosLimit(limit));
    return Reply.ok(200);
  }

  private static long limit(byte[] body) {
    try (JsonInput input = JsonInput.of(body)) {
      boolean isInteger = input.next() == JsonToken.VALUE_NUMBER_INT;
      String text = isInteger ? input.text() : "";
      if (isInteger) {
        input.expectEnd();
      }
      boolean isPositive = text.length() <= MOST_DIGITS && text.matches("[1-9][0-9]*");
      if (!isPositive) {
        throw LectusException.badRequest("`purged_infos_limit` must be positive integer");
      }
      return Long.parseLong(text);
    }
  }
}
