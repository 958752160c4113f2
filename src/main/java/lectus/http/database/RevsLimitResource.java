package lectus.http.database;

import com.fasterxml.jackson.core.JsonToken;
import lectus.database.Catalogue;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseName;
import lectus.error.LectusException;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonInput;

/** {@code /{db}/_revs_limit}: the number of ancestors that an edit branch keeps. */
final class RevsLimitResource implements Resource {
  private final Catalogue catalogue;
  private final CheckedNames names;

  RevsLimitResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answer(
              () ->
                  Reply.json(
                      200, Integer.toString(catalogue.open(database).configuration().revsLimit())));
      case PUT -> exchange.answerBodyByChange(body -> put(database, limit(body)));
      default -> throw Requests.notAllowed("PUT,GET");
    }
  }

  private Reply put(DatabaseName database, int limit) {
    catalogue.configure(database, before -> before.withRevsLimit(limit));
    return Reply.ok(200);
  }

  private static int limit(byte[] body) {
    try (JsonInput input = JsonInput.of(body)) {
      JsonToken token = input.next();
      String text = token == JsonToken.VALUE_NUMBER_INT ? input.text() : "";
      if (!text.isEmpty()) {
        input.expectEnd();
      }
      return inRange(text);
    }
  }

  private static int inRange(String text) {
    boolean maybeLegal = !text.isEmpty() && text.length() < 10;
    int limit = maybeLegal ? Integer.parseInt(text) : 0;
    if (limit < 1 || limit > DatabaseConfiguration.MAX_REVS_LIMIT) {
      throw LectusException.badRequest(
          "_revs_limit must be a whole number from 1 to "
              + DatabaseConfiguration.MAX_REVS_LIMIT
              + ".");
    }
    return limit;
  }
}
