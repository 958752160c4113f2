package lectus.http.exchange;

import lectus.error.LectusError;

/**
 * Thrown when work was not done because its client has left. It has no stack trace, since it is not
 * a defect.
 */
final class ClientLeft extends RuntimeException {
  static final LectusError ERROR = new LectusError.Unavailable("The client has left.", 0);

  ClientLeft() {
    super(ERROR.reason(), null, false, false);
  }
}
