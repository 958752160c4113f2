package lectus.http.exchange;

import io.vertx.core.http.HttpServerRequest;

/**
 * Whether a request is left unread. One that was read to its end cannot become a WebSocket any
 * more, and what is read of a body before it has a reader is lost. For the connection's event loop.
 */
public final class UnreadRequest {
  private final HttpServerRequest request;
  private boolean kept;
  private boolean awaited;

  UnreadRequest(HttpServerRequest request) {
    this.request = request;
  }

  /** Leaves it unread until it is known who sends it: nobody has begun to read its body. */
  public void keepForLogIn() {
    awaited = true;
    request.pause();
  }

  /** Reads it now that this is known. */
  public void isKnown() {
    awaited = false;
    readOn();
  }

  /** Leaves it unread as long as it may become a socket. */
  public void keepForSocket() {
    kept = true;
    request.pause();
  }

  /** Leaves it unread until the reader of its body resumes it. */
  public void keepForBody() {
    kept = true;
    request.pause();
  }

  /** Notes that it becomes none. */
  public void becomesNoSocket() {
    kept = false;
    readOn();
  }

  /** Reads it, unless it may become a socket, or its body has or may get a reader of its own. */
  public void readOn() {
    if (!kept && !awaited && !request.response().closed()) {
      request.resume();
    }
  }
}
