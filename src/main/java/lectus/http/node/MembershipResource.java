package lectus.http.node;

import java.util.List;
import lectus.http.Membership;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * {@code /_membership}: the living members. CouchDB lists the nodes that it is connected to, and
 * those that ought to be there. Members are not enrolled here, so both lists are the same.
 */
final class MembershipResource implements Resource {
  private final Membership membership;

  MembershipResource(Membership membership) {
    this.membership = membership;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(Reply.json(200, json(membership.members())));
      default -> throw Requests.notAllowed("GET");
    }
  }

  private static JsonBuffer json(List<String> members) {
    JsonBuffer json = new JsonBuffer(128);
    append(json.ascii("{\"all_nodes\":["), members);
    append(json.ascii("],\"cluster_nodes\":["), members);
    return json.ascii("]}");
  }

  private static void append(JsonBuffer json, List<String> members) {
    for (int i = 0; i < members.size(); i++) {
      json.ascii(i == 0 ? "" : ",").string(members.get(i));
    }
  }
}
