package lectus.http.token;

import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.access.UserContext;
import lectus.error.LectusException;

/** What a signed token claims. */
final class TokenClaims {
  private final Map<String, Object> claims;

  TokenClaims(Map<String, Object> claims) {
    this.claims = claims;
  }

  /**
   * @throws LectusException {@code unauthorized}: it is not good now, or lacks what it must have;
   *     {@code bad_request}: a claim is of another kind than it must be
   */
  VerifiedToken verified(TokenSettings settings, Instant now) {
    settings.required().forEach(this::require);
    Optional<Instant> until = time("exp");
    if (until.isPresent() && !now.isBefore(until.get())) {
      throw LectusException.unauthorized("exp not in future");
    }
    time("nbf").filter(now::isBefore).ifPresent(TokenClaims::refuseEarly);
    return new VerifiedToken(UserContext.named(user(), roles(settings.rolesClaim())), until);
  }

  private static void refuseEarly(Instant notBefore) {
    throw LectusException.unauthorized("nbf not in past");
  }

  private void require(String name, Optional<String> value) {
    Object claim = claims.get(name);
    if (claim == null) {
      throw LectusException.unauthorized("Missing " + name + " claim");
    }
    if (value.isPresent() && !value.get().equals(claim)) {
      throw LectusException.unauthorized("Invalid " + name + " claim");
    }
  }

  private String user() {
    Object subject = claims.get("sub");
    if (subject instanceof String name && !name.isEmpty()) {
      return name;
    }
    throw LectusException.unauthorized("Token missing sub claim.");
  }

  /** Seconds since 1970, with a fraction or without (RFC 7519, section 2). */
  private Optional<Instant> time(String name) {
    Object claim = claims.get(name);
    if (claim == null) {
      return Optional.empty();
    }
    if (!(claim instanceof Number seconds)) {
      throw malformed();
    }
    double millis = seconds.doubleValue() * 1_000;
    return Optional.of(Instant.ofEpochMilli((long) millis));
  }

  private Set<String> roles(String path) {
    Object claim = claims.containsKey(path) ? claims.get(path) : nested(path);
    if (claim == null) {
      return Set.of();
    }
    if (claim instanceof String text) {
      return text.isBlank() ? Set.of() : Set.copyOf(words(text));
    }
    if (!(claim instanceof List<?> list)) {
      throw malformed();
    }
    Set<String> roles = new HashSet<>();
    for (Object element : list) {
      if (!(element instanceof String role)) {
        throw malformed();
      }
      roles.add(role);
    }
    return roles;
  }

  private static Set<String> words(String text) {
    return new HashSet<>(Arrays.asList(text.trim().split("\\s*,\\s*")));
  }

  /** Returns what the names between the dots lead to; {@code \.} is a dot of a name. */
  private Object nested(String path) {
    Object found = claims;
    for (String name : path.split("(?<!\\\\)\\.")) {
      found = found instanceof Map<?, ?> map ? map.get(name.replace("\\.", ".")) : null;
    }
    return found;
  }

  private static LectusException malformed() {
    return LectusException.badRequest("Malformed token");
  }
}
