package lectus.error;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Carries a {@link LectusError} up to the code that answers it. It has no stack trace, because it
 * is not a defect.
 */
public final class LectusException extends RuntimeException {
  private final transient LectusError error;

  public LectusException(LectusError error) {
    super(error.error() + ": " + error.reason(), null, false, false);
    this.error = error;
  }

  public LectusError error() {
    return error;
  }

  public static LectusException badRequest(String reason) {
    return new LectusException(new LectusError.BadRequest("bad_request", reason));
  }

  public static LectusException badRequest(String error, String reason) {
    return new LectusException(new LectusError.BadRequest(error, reason));
  }

  public static LectusException unauthorized(String reason) {
    return new LectusException(new LectusError.Unauthorized(reason));
  }

  public static LectusException forbidden(String reason) {
    return new LectusException(new LectusError.Forbidden(reason));
  }

  public static LectusException unavailable(String reason) {
    return new LectusException(new LectusError.Unavailable(reason));
  }

  public static LectusException tooLarge(String error, String reason) {
    return new LectusException(new LectusError.TooLarge(error, reason));
  }

  public static LectusException notFound(String reason) {
    return new LectusException(new LectusError.NotFound(reason));
  }

  /** Returns what is sought; empty if that fails with {@code not_found}. */
  public static <T> Optional<T> unlessMissing(Supplier<T> sought) {
    try {
      return Optional.of(sought.get());
    } catch (LectusException failure) {
      if (failure.error instanceof LectusError.NotFound) {
        return Optional.empty();
      }
      throw failure;
    }
  }
}
