package lectus.http.node;

import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.Membership;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonValue;

/**
 * {@code /_cluster_setup}: a server is set up by its configuration before it starts, so CouchDB's
 * wizard and scripts are told that set-up is finished. Passwords that they send are not read.
 */
final class ClusterSetupResource implements Resource {
  private static final int MOST_BYTES = 16 << 10;

  private final Membership membership;

  ClusterSetupResource(Membership membership) {
    this.membership = membership;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(Reply.json(200, "{\"state\":\"" + state() + "\"}"));
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .body(MOST_BYTES)
            .<Reply>map(
                body -> {
                  throw LectusException.badRequest(refusal(body));
                })
            .onComplete(exchange::reply, exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,POST");
    }
  }

  private String state() {
    return membership.members().size() == 1 ? "single_node_enabled" : "cluster_finished";
  }

  /** Returns CouchDB's answer after set-up is finished. */
  private static String refusal(byte[] body) {
    JsonValue action = RequestJson.object(body).get("action").orElseGet(JsonValue.JsonNull::new);
    String text = action instanceof JsonValue.JsonString string ? string.value() : "";
    return switch (text) {
      case "enable_single_node", "finish_cluster" -> "Cluster is already finished";
      case "enable_cluster" -> "Cluster is already enabled";
      case "add_node", "remove_node", "receive_cookie" ->
          "Servers join a cluster by their configuration.";
      default -> "Invalid Action'";
    };
  }
}
