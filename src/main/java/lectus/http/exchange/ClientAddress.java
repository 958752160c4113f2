package lectus.http.exchange;

/** The address from which a client sends, as the log and the lock-out know it. */
public final class ClientAddress {
  private ClientAddress() {}

  /** Returns the address in digits. */
  public static String of(Exchange exchange) {
    return exchange.request().remoteAddress().hostAddress();
  }
}
