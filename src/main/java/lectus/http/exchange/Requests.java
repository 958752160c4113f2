package lectus.http.exchange;

import io.vertx.core.http.HttpHeaders;
import java.util.List;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.MediaType;
import lectus.http.Method;

/** Checks and errors that several resources share. */
public final class Requests {
  private Requests() {}

  /** Returns the error for a method that the resource does not have. */
  public static LectusException notAllowed(String allow) {
    return new LectusException(new LectusError.MethodNotAllowed(allow));
  }

  /**
   * Lets the methods through that a resource has. HEAD goes where GET does.
   *
   * @param allow as the header {@code Allow} lists them
   * @throws LectusException {@code method_not_allowed} (405)
   */
  public static void allow(Method method, String allow) {
    Method asked = method == Method.HEAD ? Method.GET : method;
    if (!List.of(allow.split(",")).contains(asked.name())) {
      throw notAllowed(allow);
    }
  }

  /** As {@link #allow(Method, String)}. */
  public static void allow(Exchange exchange, String allow) {
    allow(exchange.method(), allow);
  }

  /**
   * Lets through a POST of JSON.
   *
   * @throws LectusException {@code method_not_allowed} (405), {@code bad_content_type} (415)
   */
  public static void wantPostOfJson(Exchange exchange) {
    allow(exchange, "POST");
    wantJson(exchange);
  }

  /**
   * Returns the error for a body that is too long.
   *
   * @param most bytes that it may have
   */
  public static LectusException tooLarge(long most) {
    return LectusException.tooLarge(
        "too_large", "the request entity is too large, the limit is " + most + " bytes");
  }

  public static LectusException notImplemented(String sentence) {
    return new LectusException(new LectusError.NotImplemented(sentence));
  }

  /**
   * @throws LectusException {@code bad_content_type} (415)
   */
  public static void wantJson(Exchange exchange) {
    wantContentType(exchange, "application/json");
  }

  /**
   * @throws LectusException {@code bad_content_type} (415)
   */
  public static void wantContentType(Exchange exchange, String media) {
    if (!MediaType.isNamed(media, exchange.header(HttpHeaders.CONTENT_TYPE))) {
      throw new LectusException(
          new LectusError.UnsupportedMediaType("Content-Type must be " + media));
    }
  }
}
