package lectus.http.node;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.Optional;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Locations;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * {@code /_session}. There are no users, so everybody is the administrator, whatever name and
 * password a client logs in with. The client is told that it has logged in, and gets a cookie,
 * because clients with a name log in before they do anything else. The cookie is no secret and
 * grants nothing. It and {@code Authorization} are read only here, where a client asks for its own
 * name. The password is not even read from the body.
 */
final class SessionResource implements Resource {
  /** The longest body, in bytes; a name and a password need less. */
  private static final int MOST_BYTES = 16 << 10;

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(session(ClaimedName.of(exchange)));
      case POST -> logIn(exchange);
      case DELETE -> exchange.reply(leadingOn(exchange, loggedOut()));
      default -> throw Requests.notAllowed("GET,HEAD,POST,DELETE");
    }
  }

  private static Reply session(Optional<ClaimedName> who) {
    JsonBuffer json = new JsonBuffer(192).ascii("{\"ok\":true,\"userCtx\":{\"name\":");
    who.ifPresentOrElse(claimed -> json.string(claimed.name()), () -> json.ascii("null"));
    json.ascii(",\"roles\":[\"_admin\"]},\"info\":{\"authentication_handlers\":");
    json.ascii("[\"cookie\",\"default\"]");
    who.ifPresent(claimed -> json.ascii(",\"authenticated\":").string(claimed.handler()));
    return Reply.json(200, json.ascii("}}"));
  }

  private static void logIn(Exchange exchange) {
    LoginForm form = LoginForm.of(exchange.header(HttpHeaders.CONTENT_TYPE));
    Future<byte[]> body = exchange.body(MOST_BYTES);
    body.map(bytes -> leadingOn(exchange, loggedIn(form.name(bytes))))
        .onComplete(exchange::reply, exchange::fail);
  }

  private static Reply loggedIn(String name) {
    JsonBuffer json = new JsonBuffer(96);
    json.ascii("{\"ok\":true,\"name\":").string(name).ascii(",\"roles\":[\"_admin\"]}");
    return Reply.json(200, json).with(HttpHeaders.SET_COOKIE, SessionCookie.of(name));
  }

  private static Reply loggedOut() {
    return Reply.ok(200).with(HttpHeaders.SET_COOKIE, SessionCookie.NONE);
  }

  /** A browser's form names the page that follows. */
  private static Reply leadingOn(Exchange exchange, Reply reply) {
    String next = exchange.query().get("next");
    return next == null ? reply : reply.redirecting(Locations.ofPath(exchange, next));
  }
}
