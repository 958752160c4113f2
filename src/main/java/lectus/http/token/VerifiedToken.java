package lectus.http.token;

import java.time.Instant;
import java.util.Optional;
import lectus.access.Admission;
import lectus.access.UserContext;

/**
 * A token whose signature and claims are good.
 *
 * @param until when it expires; empty: never
 */
record VerifiedToken(UserContext user, Optional<Instant> until) {
  Admission admission() {
    return new Admission(user, until, Optional.empty());
  }

  boolean isGoodAt(Instant now) {
    return until.map(now::isBefore).orElse(true);
  }
}
