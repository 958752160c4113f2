package lectus.http.exchange;

import io.vertx.core.http.HttpServerRequest;

/**
 * Whether a request is left unread. One that was read to its end cannot become a WebSocket any
 * more. For the connection's event loop.
 */
public final class UnreadRequest {
  private final HttpServerRequest request;
  private boolean keptForSocket;

  UnreadRequest(HttpServerRequest request) {
    this.request = request;
  }

  /** Leaves it unread as long as it may become a socket. */
  public void keepForSocket() {
    keptForSocket = true;
    request.pause();
  }

  /** Notes that it becomes none. */
  public void becomesNoSocket() {
    keptForSocket = false;
    readOn();
  }

  /** Reads it, unless it may become a socket. */
  public void readOn() {
    if (!keptForSocket && !request.response().closed()) {
      request.resume();
    }
  }
}
