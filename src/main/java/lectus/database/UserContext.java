package lectus.database;

import java.util.Optional;
import java.util.Set;

/**
 * Who asks, CouchDB's {@code userCtx}.
 *
 * @param name empty for somebody who did not log in
 */
public record UserContext(Optional<String> name, Set<String> roles) {
  /** The role of those who may do everything on this server. Nobody can give it to a user. */
  public static final String SERVER_ADMIN = "_admin";

  /** Somebody who did not log in. */
  public static final UserContext ANONYMOUS = new UserContext(Optional.empty(), Set.of());

  /** Everybody, on a server that has no admin and trusts whoever reaches it. */
  public static final UserContext ADMIN_PARTY =
      new UserContext(Optional.empty(), Set.of(SERVER_ADMIN));

  /** The server itself, which may do everything in its own name. */
  public static final UserContext SERVER =
      new UserContext(Optional.empty(), Set.of(SERVER_ADMIN, "_server"));

  public UserContext {
    roles = Set.copyOf(roles);
  }

  public static UserContext named(String name, Set<String> roles) {
    return new UserContext(Optional.of(name), roles);
  }

  public static UserContext admin(String name) {
    return named(name, Set.of(SERVER_ADMIN));
  }

  public boolean isServerAdmin() {
    return roles.contains(SERVER_ADMIN);
  }
}
