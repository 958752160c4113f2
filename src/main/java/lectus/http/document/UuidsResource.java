package lectus.http.document;

import io.vertx.core.http.HttpHeaders;
import java.util.function.IntSupplier;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /_uuids?count=}. */
final class UuidsResource implements Resource {
  private static final String LONG_AGO = "Mon, 01 Jan 1990 00:00:00 GMT";

  private final Uuids uuids;
  private final IntSupplier most;

  UuidsResource(Uuids uuids, IntSupplier most) {
    this.uuids = uuids;
    this.most = most;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(reply(count(exchange.query().get("count"))));
      default -> throw Requests.notAllowed("GET");
    }
  }

  private int count(String text) {
    if (text == null) {
      return 1;
    }
    try {
      int count = Integer.parseInt(text);
      if (count > most.getAsInt()) {
        throw LectusException.badRequest("count parameter too large");
      }
      if (count >= 0) {
        return count;
      }
    } catch (NumberFormatException e) {
      // falls through to the answer for a negative number
    }
    throw LectusException.badRequest("count must be a positive integer");
  }

  private Reply reply(int count) {
    JsonBuffer json = new JsonBuffer(16 + 35 * count);
    json.ascii("{\"uuids\":[");
    for (int i = 0; i < count; i++) {
      json.ascii(i == 0 ? "" : ",").string(uuids.next());
    }
    json.ascii("]}");
    return Reply.json(200, json)
        .with(HttpHeaders.CACHE_CONTROL, "no-cache")
        .with(HttpHeaders.createOptimized("Pragma"), "no-cache")
        .with(HttpHeaders.EXPIRES, LONG_AGO)
        .withEtag(uuids.next());
  }
}
