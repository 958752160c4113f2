package lectus.http.node;

import java.util.List;
import lectus.error.LectusException;
import lectus.http.Membership;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /_node/_local}: this server's name among the members. */
final class NodeResource implements Resource {
  private final Membership membership;

  NodeResource(Membership membership) {
    this.membership = membership;
  }

  @Override
  public void serve(Exchange exchange) {
    List<String> path = exchange.segments();
    switch (path.size()) {
      case 1 -> throw LectusException.badRequest("Incomplete path to _node request");
      case 2 -> serveName(exchange);
      default ->
          throw Requests.notImplemented(
              "/_node/{name}/" + path.get(2) + " is a part of CouchDB that Lectus does not have.");
    }
  }

  /** Every method is allowed, as in CouchDB. */
  private void serveName(Exchange exchange) {
    String name = membership.self();
    String asked = exchange.segment(1);
    if (!asked.equals("_local") && !asked.equals(name)) {
      throw LectusException.notFound("no such node: " + asked);
    }
    exchange.reply(Reply.json(200, new JsonBuffer(64).ascii("{\"name\":").string(name).octet('}')));
  }
}
