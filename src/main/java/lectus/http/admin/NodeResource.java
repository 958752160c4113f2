package lectus.http.admin;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import lectus.error.LectusException;
import lectus.http.Membership;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Resource;
import lectus.json.JsonBuffer;

/**
 * {@code /_node/{name}}: a server's name among the members, and its own resources below. Those of
 * another member are asked for where they are.
 */
record NodeResource(Membership membership, OwnResources parts, RemoteParts remote)
    implements Resource {
  /** More than a value of the configuration needs. */
  private static final int MAX_BODY_BYTES = 16 << 10;

  /** CouchDB's names for a node that was given none; scripts have them. */
  private static final Set<String> UNNAMED =
      Set.of("nonode@nohost", "couchdb@127.0.0.1", "couchdb@localhost");

  /** The names before a resource's own. */
  private static final int NAMES_BEFORE = 2;

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
    parts.check(path.get(NAMES_BEFORE));
    String node = member(exchange);
    body(exchange)
        .map(body -> request(exchange, body))
        .compose(it -> isSelf(node) ? parts.answer(it) : remote.answer(node, it))
        .onComplete(exchange::reply, exchange::fail);
  }

  private static Future<byte[]> body(Exchange exchange) {
    return exchange.method() == Method.PUT || exchange.method() == Method.POST
        ? exchange.body(MAX_BODY_BYTES)
        : Future.succeededFuture(new byte[0]);
  }

  private static NodeRequest request(Exchange exchange, byte[] body) {
    List<String> path = exchange.segments();
    return new NodeRequest(
        exchange.method(),
        path.subList(NAMES_BEFORE, path.size()),
        String.join(",", exchange.request().headers().getAll(HttpHeaders.ACCEPT)),
        body,
        new ByExchange(exchange));
  }

  private record ByExchange(Exchange exchange) implements NodeRequest.Work {
    @Override
    public Future<Reply> read(Callable<Reply> reading) {
      return exchange.work(reading);
    }

    @Override
    public Future<Reply> change(Callable<Reply> change) {
      return exchange.change(change);
    }

    @Override
    public Context context() {
      return exchange.context();
    }
  }

  /** Every method is allowed, as in CouchDB. */
  private void serveName(Exchange exchange) {
    String name = member(exchange);
    exchange.reply(Reply.json(200, new JsonBuffer(64).ascii("{\"name\":").string(name).octet('}')));
  }

  private boolean isSelf(String node) {
    return node.equals(membership.self());
  }

  /** Returns the full name of the member that is asked for. */
  private String member(Exchange exchange) {
    String asked = exchange.segment(1);
    List<String> members = membership.members();
    boolean isOnly = members.size() == 1 && UNNAMED.contains(asked);
    if (asked.equals("_local") || isSelf(asked) || isOnly) {
      return membership.self();
    }
    if (!members.contains(asked)) {
      throw LectusException.notFound("no such node: " + asked);
    }
    return asked;
  }
}
