package lectus.http.node;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;
import lectus.metrics.ExpositionFormat;
import lectus.metrics.Metrics;

/**
 * {@code /_node/{node}/_prometheus}: all figures, in Prometheus' text format or as OpenMetrics,
 * whichever is asked for.
 */
final class FiguresResource implements NodePart {
  private final Metrics metrics;

  FiguresResource(Metrics metrics) {
    this.metrics = metrics;
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    return switch (request.method()) {
      case GET, HEAD -> {
        ExpositionFormat format = ExpositionFormat.of(request.accept());
        yield Future.fromCompletionStage(metrics.text(format), request.work().context())
            .map(text -> new Reply(200, format.contentType(), Buffer.buffer(text), List.of()));
      }
      default -> throw Requests.notAllowed("GET");
    };
  }
}
