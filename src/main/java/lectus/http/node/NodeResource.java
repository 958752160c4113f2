package lectus.http.node;

import java.util.List;
import java.util.Map;
import lectus.error.LectusException;
import lectus.http.Membership;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /_node/_local}: this server's name among the members, and its own resources below. */
final class NodeResource implements Resource {
  private final Membership membership;
  private final Map<String, Resource> below;

  /**
   * @param below the resources of a server, by their names
   */
  NodeResource(Membership membership, Map<String, Resource> below) {
    this.membership = membership;
    this.below = below;
  }

  @Override
  public void serve(Exchange exchange) {
    List<String> path = exchange.segments();
    switch (path.size()) {
      case 1 -> throw LectusException.badRequest("Incomplete path to _node request");
      case 2 -> serveName(exchange);
      default -> serveBelow(exchange, path);
    }
  }

  private void serveBelow(Exchange exchange, List<String> path) {
    Resource resource = below.get(path.get(2));
    if (resource == null) {
      throw Requests.notImplemented(
          "/_node/{name}/" + path.get(2) + " is a part of CouchDB that Lectus does not have.");
    }
    checkName(exchange);
    resource.serve(exchange);
  }

  /** Every method is allowed, as in CouchDB. */
  private void serveName(Exchange exchange) {
    String name = checkName(exchange);
    exchange.reply(Reply.json(200, new JsonBuffer(64).ascii("{\"name\":").string(name).octet('}')));
  }

  /** Returns this server's name if that is asked for. */
  private String checkName(Exchange exchange) {
    String name = membership.self();
    String asked = exchange.segment(1);
    if (!asked.equals("_local") && !asked.equals(name)) {
      throw LectusException.notFound("no such node: " + asked);
    }
    return name;
  }
}
