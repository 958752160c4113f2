package lectus.http.node;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;
import lectus.metrics.Metrics;

/** {@code /_node/{node}/_prometheus}: all figures, in Prometheus' text format. */
final class FiguresResource implements NodePart {
  private static final CharSequence TYPE = HttpHeaders.createOptimized(Metrics.CONTENT_TYPE);

  private final Metrics metrics;

  FiguresResource(Metrics metrics) {
    this.metrics = metrics;
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    return switch (request.method()) {
      case GET, HEAD ->
          Future.fromCompletionStage(metrics.text(), request.work().context())
              .map(text -> new Reply(200, TYPE, Buffer.buffer(text), List.of()));
      default -> throw Requests.notAllowed("GET");
    };
  }
}
