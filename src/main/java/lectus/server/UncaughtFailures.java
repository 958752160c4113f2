package lectus.server;

import io.vertx.core.Handler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs uncaught exceptions of event loops. One is ignored: if a client leaves during its WebSocket
 * handshake, Vert.x completes its own promise twice.
 */
final class UncaughtFailures implements Handler<Throwable> {
  private static final Logger LOG = LoggerFactory.getLogger(UncaughtFailures.class);
  private static final String HANDSHAKE = "createWebSocket";

  @Override
  public void handle(Throwable failure) {
    if (isLateHandshake(failure)) {
      LOG.debug("A client left during its handshake", failure);
    } else {
      LOG.error("Unhandled exception", failure);
    }
  }

  private static boolean isLateHandshake(Throwable failure) {
    if (!(failure instanceof IllegalStateException)) {
      return false;
    }
    for (StackTraceElement call : failure.getStackTrace()) {
      if (call.getMethodName().contains(HANDSHAKE)) {
        return true;
      }
    }
    return false;
  }
}
