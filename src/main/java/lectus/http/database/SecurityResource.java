package lectus.http.database;

import com.fasterxml.jackson.core.JsonToken;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;

/**
 * {@code /{db}/_security}: stored and returned; it protects nothing as long as there are no users.
 */
final class SecurityResource implements Resource {
  private final Catalogue catalogue;
  private final CheckedNames names;

  SecurityResource(Catalogue catalogue, CheckedNames names) {
    this.catalogue = catalogue;
    this.names = names;
  }

  @Override
  public void serve(Exchange exchange) {
    DatabaseName database = names.of(exchange);
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answer(
              () -> Reply.json(200, new JsonBuffer(256).raw(catalogue.security(database))));
      case PUT -> exchange.answerBodyByChange(body -> put(database, body));
      default -> throw Requests.notAllowed("PUT,GET");
    }
  }

  private Reply put(DatabaseName database, byte[] body) {
    if (body.length > Catalogue.MOST_SECURITY_BYTES) {
      throw new LectusException(
          new LectusError.TooLarge(
              "too_large",
              "The security object takes "
                  + body.length
                  + " bytes, the limit is "
                  + Catalogue.MOST_SECURITY_BYTES
                  + "."));
    }
    requireObject(body);
    catalogue.secure(database, body);
    return Reply.ok(200);
  }

  private static void requireObject(byte[] body) {
    try (JsonInput input = JsonInput.of(body)) {
      if (input.next() != JsonToken.START_OBJECT) {
        throw LectusException.badRequest("Request body must be a JSON object");
      }
      input.skip();
      input.expectEnd();
    }
  }
}
