package lectus.http.api;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.UserContext;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Services;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.ReplicationFailure;
import lectus.replication.ReplicationRequest;
import lectus.replication.ReplicationRequest.Defaults;
import lectus.replication.Replications;

/** The resources by which clients have this server replicate. */
public final class ReplicationApi {
  private static final int CONTINUOUS = 202;

  private final Replications replications;
  private final Defaults defaults;

  public ReplicationApi(Services services) {
    this.replications = services.replications();
    this.defaults = replications.replicator().defaults();
  }

  /**
   * {@code POST /_replicate}: a replication that ends is answered at its end; it goes on if the
   * client leaves.
   */
  public void replicate(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    UserContext user = exchange.user();
    exchange
        .jsonBody()
        .compose(body -> exchange.work(() -> RequestJson.object(body)))
        .compose(body -> Future.fromCompletionStage(replicate(body, user), exchange.context()))
        .onComplete(exchange::reply, exchange::fail);
  }

  private CompletableFuture<Reply> replicate(JsonObject body, UserContext user) {
    Optional<String> cancelled = ReplicationRequest.cancelledId(body);
    if (cancelled.isPresent()) {
      return CompletableFuture.completedFuture(cancel(cancelled.get(), user));
    }
    ReplicationRequest request = ReplicationRequest.parse(body, defaults);
    CompletableFuture<Reply> reply =
        request.options().cancel()
            ? replications.idOf(request, user).thenApply(id -> cancel(id, user))
            : replications
                .begin(request, user)
                .thenCompose(
                    begun ->
                        request.options().continuous()
                            ? CompletableFuture.completedFuture(
                                told(CONTINUOUS, begun.id().toString()))
                            : begun
                                .outcome()
                                .thenApply(done -> Reply.json(200, done.result().toJson())));
    return reply.exceptionally(failure -> failed(ReplicationFailure.of(failure)));
  }

  private Reply cancel(String id, UserContext user) {
    if (!replications.cancel(id, user)) {
      throw LectusException.notFound("missing");
    }
    return told(200, id);
  }

  private static Reply told(int status, String id) {
    return Reply.json(
        status, new JsonBuffer(64).ascii("{\"ok\":true,\"_local_id\":").string(id).octet('}'));
  }

  private static Reply failed(ReplicationFailure failure) {
    JsonBuffer out = new JsonBuffer(128).ascii("{\"error\":").string(failure.error());
    return Reply.json(
        failure.status(), out.ascii(",\"reason\":").string(failure.reason()).octet('}'));
  }
}
