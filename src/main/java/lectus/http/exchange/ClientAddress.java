package lectus.http.exchange;

/** The address from which a client sends, as the log and the lock-out know it. */
public final class ClientAddress {
  private ClientAddress() {}

  /**
   * Returns the address in digits: what trusted proxies say it is, or else what is at the other end
   * of the connection.
   */
  public static String of(Exchange exchange) {
    return Forwarded.of(exchange).client().orElseGet(() -> Peer.of(exchange).text());
  }
}
