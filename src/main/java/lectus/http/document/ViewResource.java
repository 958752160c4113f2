package lectus.http.document;

import io.vertx.core.Future;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lectus.database.DatabaseRequest;
import lectus.database.Partition;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.view.ViewArguments;
import lectus.view.Views;

/**
 * {@code /{db}/_design/{name}/_view/{view}}, also with {@code /queries}, and the same below {@code
 * /{db}/_partition/{partition}}. A request that wants a view to be up to date holds no thread while
 * it waits for that.
 */
final class ViewResource implements Resource {
  private static final String PARTITION = "_partition";
  private static final int SECONDS_BEFORE_RETRY = 5;

  private final Views views;

  ViewResource(Views views) {
    this.views = views;
  }

  @Override
  public void serve(Exchange exchange) {
    List<String> segments = exchange.target().segments();
    boolean isOfPartition = segments.get(1).equals(PARTITION);
    List<String> path = segments.subList(isOfPartition ? 4 : 2, segments.size());
    Map<String, String> parameters = parameters(exchange, isOfPartition);
    boolean areCombined = path.size() == 4 && path.get(3).equals("queries");
    if (path.size() != 3 && !areCombined) {
      throw LectusException.notFound("missing");
    }
    switch (exchange.method()) {
      case GET, HEAD -> {
        if (areCombined) {
          throw Requests.notAllowed("POST");
        }
        answer(exchange, path, new ViewArguments(parameters, Optional.empty(), false));
      }
      case POST -> {
        Requests.wantJson(exchange);
        exchange
            .jsonBody()
            .onComplete(
                body ->
                    exchange.guarded(
                        () ->
                            answer(
                                exchange,
                                path,
                                new ViewArguments(parameters, Optional.of(body), areCombined))),
                exchange::fail);
      }
      default -> throw Requests.notAllowed(areCombined ? "POST" : "GET,HEAD,POST");
    }
  }

  private static Map<String, String> parameters(Exchange exchange, boolean isOfPartition) {
    Map<String, String> parameters = new LinkedHashMap<>(exchange.query().asMap());
    if (isOfPartition) {
      String name = Partition.of(exchange.segment(2)).name();
      String other = parameters.put("partition", name);
      if (other != null && !other.equals(name)) {
        throw LectusException.badRequest("Conflicting value for `partition` in query string");
      }
    }
    return parameters;
  }

  private void answer(Exchange exchange, List<String> path, ViewArguments arguments) {
    DatabaseRequest database = exchange.database();
    exchange
        .work(
            () -> {
              Views.Prepared prepared =
                  views.prepare(database, path.get(0), path.get(2), arguments);
              return new Waiting(prepared, views.ready(prepared));
            })
        .compose(waiting -> awaited(exchange, waiting))
        .onComplete(
            prepared -> exchange.guarded(() -> exchange.stream(() -> views.answer(prepared))),
            exchange::fail);
  }

  private record Waiting(Views.Prepared prepared, CompletableFuture<Void> ready) {}

  private static Future<Views.Prepared> awaited(Exchange exchange, Waiting waiting) {
    CompletableFuture<Void> ready =
        waiting.ready.orTimeout(exchange.patience().toMillis(), TimeUnit.MILLISECONDS);
    return Future.fromCompletionStage(ready, exchange.context())
        .map(done -> waiting.prepared)
        .recover(failure -> Future.failedFuture(cause(failure)));
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause instanceof TimeoutException
        ? new LectusException(
            new LectusError.Unavailable(
                "The view is not up to date yet; it is being built.", SECONDS_BEFORE_RETRY))
        : cause;
  }
}
