package lectus.account;

import java.time.Duration;

/** What came of an attempt to log in. */
public sealed interface LogIn {
  /**
   * @param account whose password it is
   */
  record Granted(NamedAccount account) implements LogIn {}

  /** The name or the password is wrong; nobody learns which. */
  record Refused() implements LogIn {}

  /** The password is right, but the user's document is in conflict, and lets nobody in. */
  record Conflicted() implements LogIn {}

  /** There were too many wrong passwords for this name from this address. */
  record LockedOut(Duration retryAfter) implements LogIn {}

  /** There were wrong passwords for too many names from this address. */
  record Slowed(Duration retryAfter) implements LogIn {}
}
