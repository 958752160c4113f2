package lectus.http.api;

import io.vertx.core.http.HttpHeaders;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicAddress;

/** Tells browsers that came over TLS to come over nothing else (RFC 6797), if this is wanted. */
final class TransportSecurity {
  private static final CharSequence NAME = HttpHeaders.createOptimized("Strict-Transport-Security");

  private final int seconds;
  private final CharSequence value;

  /**
   * @param seconds 0: nothing is told
   */
  TransportSecurity(int seconds) {
    this.seconds = seconds;
    this.value = HttpHeaders.createOptimized("max-age=" + seconds);
  }

  void addTo(Exchange exchange) {
    if (seconds > 0 && PublicAddress.isSecure(exchange)) {
      exchange.response().putHeader(NAME, value);
    }
  }
}
