package lectus.http;

/**
 * What one user may use of one server at a time; 0: as much as there is. Whoever is not logged in
 * is known by address.
 *
 * @param subscriptions over all sockets of the user
 */
public record UserLimits(int requestsPerSecond, int connections, int subscriptions) {
  /** Without limits. */
  public static final UserLimits NONE = new UserLimits(0, 0, 0);
}
