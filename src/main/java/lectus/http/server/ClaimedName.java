package lectus.http.server;

import io.vertx.core.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import lectus.http.exchange.Exchange;

/**
 * Who a client says that it is. Nobody checks it, for nothing depends on it: clients that have
 * logged in look here whether they did, and begin again if their name is not told back.
 *
 * @param handler which of CouchDB's would have found it: {@code cookie} or {@code default}
 */
record ClaimedName(String name, String handler) {
  private static final String BASIC = "Basic ";

  /** What can be read; what cannot is passed over. */
  static Optional<ClaimedName> of(Exchange exchange) {
    return Optional.ofNullable(exchange.header(HttpHeaders.COOKIE))
        .flatMap(SessionCookie::name)
        .map(name -> new ClaimedName(name, "cookie"))
        .or(() -> ofPassword(exchange.header(HttpHeaders.AUTHORIZATION)));
  }

  /** RFC 7617: a name, a colon, and the password, which is not looked at. */
  private static Optional<ClaimedName> ofPassword(String authorization) {
    if (authorization == null || !authorization.startsWith(BASIC)) {
      return Optional.empty();
    }
    return text(Base64.getDecoder(), authorization.substring(BASIC.length()).trim())
        .filter(pair -> pair.indexOf(':') > 0)
        .map(pair -> new ClaimedName(pair.substring(0, pair.indexOf(':')), "default"));
  }

  /** Empty for what is no base 64, or no UTF-8 in it. */
  static Optional<String> text(Base64.Decoder decoder, String encoded) {
    try {
      ByteBuffer utf8 = ByteBuffer.wrap(decoder.decode(encoded));
      return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(utf8).toString());
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return Optional.empty();
    }
  }
}
