package lectus.account;

import java.time.Duration;
import lectus.access.UserContext;

/** What came of an attempt to log in. */
public sealed interface LogIn {
  record Granted(UserContext user) implements LogIn {}

  /** The name or the password is wrong; nobody learns which. */
  record Refused() implements LogIn {}

  /** There were too many wrong passwords for this name from this address. */
  record LockedOut(Duration retryAfter) implements LogIn {}
}
