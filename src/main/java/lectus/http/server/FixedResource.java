package lectus.http.server;

import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;

/** A resource whose answer to GET never changes. */
record FixedResource(Reply reply) implements Resource {
  /** {@code /_active_tasks}: CouchDB's kinds of tasks do not exist here. */
  static final FixedResource ACTIVE_TASKS = new FixedResource(Reply.json(200, "[]"));

  /** {@code /_session}: there are no users, so everybody is the administrator. */
  static final FixedResource SESSION =
      new FixedResource(
          Reply.json(
              200,
              "{\"ok\":true,\"userCtx\":{\"name\":null,\"roles\":[\"_admin\"]},"
                  + "\"info\":{\"authentication_handlers\":[]}}"));

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(reply);
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }
}
