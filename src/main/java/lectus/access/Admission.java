package lectus.access;

import java.time.Instant;
import java.util.Optional;

/**
 * That somebody was let in: as whom, and on what grounds. It ends before its time when these are
 * gone.
 *
 * @param until when it ends by itself, as a session or a token does; empty: never
 * @param salt of the account as it was then; empty if no account was looked at, as with a token
 */
public record Admission(UserContext user, Optional<Instant> until, Optional<String> salt) {

  /** Lets in somebody for good, whatever becomes of accounts. */
  public static Admission of(UserContext user) {
    return new Admission(user, Optional.empty(), Optional.empty());
  }
}
