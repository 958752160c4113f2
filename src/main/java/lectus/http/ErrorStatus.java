package lectus.http;

import lectus.error.LectusError;

/** Maps errors to statuses, in this place only. */
public final class ErrorStatus {
  private ErrorStatus() {}

  public static int of(LectusError error) {
    if (error instanceof LectusError.BadRequest || error instanceof LectusError.NotYet) {
      return 400;
    }
    if (error instanceof LectusError.Unauthorized) {
      return 401;
    }
    if (error instanceof LectusError.Forbidden) {
      return 403;
    }
    if (error instanceof LectusError.NotFound) {
      return 404;
    }
    if (error instanceof LectusError.MethodNotAllowed) {
      return 405;
    }
    if (error instanceof LectusError.RequestTimeout) {
      return 408;
    }
    if (error instanceof LectusError.Conflict
        || error instanceof LectusError.MissingRevision
        || error instanceof LectusError.NotNow) {
      return 409;
    }
    if (error instanceof LectusError.Gone) {
      return 410;
    }
    if (error instanceof LectusError.PreconditionFailed
        || error instanceof LectusError.MissingStub) {
      return 412;
    }
    if (error instanceof LectusError.TooLarge) {
      return 413;
    }
    if (error instanceof LectusError.UriTooLong) {
      return 414;
    }
    if (error instanceof LectusError.UnsupportedMediaType) {
      return 415;
    }
    if (error instanceof LectusError.RangeNotSatisfiable) {
      return 416;
    }
    if (error instanceof LectusError.ExpectationFailed) {
      return 417;
    }
    if (error instanceof LectusError.UpgradeRequired) {
      return 426;
    }
    if (error instanceof LectusError.TooManyRequests) {
      return 429;
    }
    if (error instanceof LectusError.NotImplemented) {
      return 501;
    }
    if (error instanceof LectusError.InsufficientStorage) {
      return 507;
    }
    boolean isPassing =
        error instanceof LectusError.Unavailable
            || error instanceof LectusError.InDoubt
            || error instanceof LectusError.MissingService;
    return isPassing ? 503 : 500;
  }
}
