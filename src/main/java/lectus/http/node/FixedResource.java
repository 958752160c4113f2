package lectus.http.node;

import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;

/** A resource whose answer to GET never changes. */
record FixedResource(Reply reply) implements Resource {
  /** {@code /_active_tasks}: CouchDB's kinds of tasks do not exist here. */
  static final FixedResource ACTIVE_TASKS = new FixedResource(Reply.json(200, "[]"));

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(reply);
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }
}
