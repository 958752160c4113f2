package lectus.http.node;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.store.StorePulse;

/**
 * {@code /_up}, for load balancers: 200 as long as the store is well, else 503. It needs no
 * reader's thread, so it answers even when all of them wait for the store.
 */
final class UpResource implements Resource {
  private static final Reply UP = Reply.json(200, "{\"status\":\"ok\",\"seeds\":{}}");

  private final StorePulse pulse;

  UpResource(StorePulse pulse) {
    this.pulse = pulse;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD ->
          pulse
              .ask()
              .thenAccept(
                  complaint ->
                      exchange.context().runOnContext(none -> exchange.reply(reply(complaint))));
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private static Reply reply(Optional<String> complaint) {
    return complaint.map(sentence -> Reply.error(new LectusError.Unavailable(sentence))).orElse(UP);
  }
}
