package lectus.http.node;

import io.vertx.core.Future;
import lectus.error.LectusException;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;

/**
 * {@code /_node/{node}/_restart}: the server answers, stops in order, and starts again. Nothing
 * that it has acknowledged is lost, and no request that it has taken is cut off.
 */
final class RestartPart implements NodePart {
  private final Runnable restart;

  RestartPart(Runnable restart) {
    this.restart = restart;
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    if (request.path().size() > 1) {
      throw LectusException.notFound("missing");
    }
    return switch (request.method()) {
      case POST -> {
        restart.run();
        yield Future.succeededFuture(Reply.ok(200));
      }
      default -> throw Requests.notAllowed("POST");
    };
  }
}
