package lectus.http.access;

import io.vertx.core.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import lectus.http.exchange.Exchange;

/**
 * The name that a client claims on a server without admins. It is not checked, because nothing
 * depends on it: clients that have logged in ask for it, and log in again if it is not returned.
 *
 * @param handler the handler of CouchDB's that would have found it: {@code cookie} or {@code
 *     default}
 */
record ClaimedName(String name, String handler) {
  private static final String BASIC = "Basic ";

  /** Returns the name that can be read; what cannot be read is ignored. */
  static Optional<ClaimedName> of(Exchange exchange) {
    return Optional.ofNullable(exchange.header(HttpHeaders.COOKIE))
        .flatMap(UnsignedCookie::name)
        .map(name -> new ClaimedName(name, "cookie"))
        .or(() -> ofPassword(exchange.header(HttpHeaders.AUTHORIZATION)));
  }

  /** RFC 7617: a name, a colon, and the password, which is ignored. */
  private static Optional<ClaimedName> ofPassword(String authorization) {
    if (authorization == null || !authorization.startsWith(BASIC)) {
      return Optional.empty();
    }
    return text(Base64.getDecoder(), authorization.substring(BASIC.length()).trim())
        .filter(pair -> pair.indexOf(':') > 0)
        .map(pair -> new ClaimedName(pair.substring(0, pair.indexOf(':')), "default"));
  }

  /** Returns empty if the text is not Base64, or not of UTF-8. */
  static Optional<String> text(Base64.Decoder decoder, String encoded) {
    try {
      ByteBuffer utf8 = ByteBuffer.wrap(decoder.decode(encoded));
      return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(utf8).toString());
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return Optional.empty();
    }
  }
}
