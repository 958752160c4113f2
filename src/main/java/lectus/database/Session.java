package lectus.database;

import java.time.Instant;
import java.util.Optional;

/**
 * As whom a client was let in, and for how long. It ends earlier when the account changes.
 *
 * @param until when it ends by itself, as a session or a token does; empty: never
 * @param salt of the account as it was then; empty if no account was looked at, as with a token
 */
public record Session(UserContext user, Optional<Instant> until, Optional<String> salt) {

  /** Lets in somebody for good, whatever account changes. */
  public static Session of(UserContext user) {
    return new Session(user, Optional.empty(), Optional.empty());
  }
}
