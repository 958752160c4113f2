package lectus.http.exchange;

import java.util.Optional;
import lectus.error.LectusError;
import lectus.http.AccessSettings;
import lectus.http.message.AcceptedTypes;
import lectus.http.message.Headers;
import lectus.http.message.Reply;

/**
 * How a client is told to log in. A {@code WWW-Authenticate} makes browsers ask for a password, so
 * as in CouchDB only a client that wishes for one gets it, and everybody where nobody may do
 * anything without a log-in. A client that takes pages and no JSON is sent to the page where one
 * logs in.
 */
final class Challenge {
  private static final String BASIC = "Basic realm=\"server\"";

  private Challenge() {}

  /** Returns the answer to an error. */
  static Reply with(Exchange exchange, LectusError error) {
    Reply reply = Reply.error(error);
    return error instanceof LectusError.Unauthorized
        ? of(exchange)
            .map(it -> reply.with(Headers.CHALLENGE, it))
            .or(() -> page(exchange, error).map(reply::redirecting))
            .orElse(reply)
        : reply;
  }

  /** Returns the URL of the page; empty if the client is to be answered as any other. */
  private static Optional<String> page(Exchange exchange, LectusError error) {
    AcceptedTypes accepted = exchange.accepts();
    return accepted.include("application/json") || !accepted.include("text/html")
        ? Optional.empty()
        : exchange
            .loop()
            .settings()
            .access()
            .logInPage()
            .map(
                path ->
                    path
                        + "?return="
                        + Locations.encoded(exchange.rawPath())
                        + "&reason="
                        + Locations.encoded(error.reason()))
            .map(path -> Locations.ofPath(exchange, path));
  }

  private static Optional<String> of(Exchange exchange) {
    Optional<String> wanted = Optional.ofNullable(exchange.header(Headers.WANTED_CHALLENGE));
    AccessSettings access = exchange.loop().settings().access();
    Optional<String> usual =
        access.challenge().or(() -> Optional.of(BASIC).filter(it -> access.requiresValidUser()));
    return wanted.or(() -> usual);
  }
}
