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

  /**
   * Returns by what a user is counted: a name, or the address of one who is not logged in. No name
   * can be taken for an address.
   */
  public static String userKey(Exchange exchange) {
    return exchange
        .user()
        .name()
        .map(name -> "user " + name)
        .orElseGet(() -> "address " + of(exchange));
  }
}
