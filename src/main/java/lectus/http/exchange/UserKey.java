package lectus.http.exchange;

/** By what a user is counted: a name, or the address of one who is not logged in. */
public final class UserKey {
  private UserKey() {}

  /** No name can be taken for an address. */
  public static String of(Exchange exchange) {
    return exchange
        .user()
        .name()
        .map(name -> "user " + name)
        .orElseGet(() -> "address " + ClientAddress.of(exchange));
  }
}
