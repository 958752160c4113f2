package lectus.http.admin;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.http.HttpMethod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import lectus.http.Method;
import lectus.http.OtherMembers.Question;
import lectus.http.Reply;
import lectus.http.admin.NodeRequest.NodePart;
import lectus.http.exchange.Dispatch;
import lectus.http.exchange.Failures;
import lectus.http.exchange.Requests;
import lectus.http.limits.RequestThreads;
import lectus.http.limits.RequestThreads.Kind;
import lectus.metrics.RequestLabel;

/** A server's own resources, by their names. */
public final class OwnResources {
  /** Requests of other members take turns as if they were of one client. */
  private static final Object OTHERS = new Object();

  private final Map<String, NodePart> parts;
  private final RequestThreads readers;
  private final Duration patience;

  OwnResources(Map<String, NodePart> parts, RequestThreads readers, Duration patience) {
    this.parts = Map.copyOf(parts);
    this.readers = readers;
    this.patience = patience;
  }

  /**
   * Whether there is such a resource.
   *
   * @throws lectus.error.LectusException not_implemented (501)
   */
  void check(String name) {
    if (!parts.containsKey(name)) {
      throw Requests.notImplemented(
          "/_node/{name}/" + name + " is a part of CouchDB that Lectus does not have.");
    }
  }

  Future<Reply> answer(NodeRequest request) {
    check(request.name(0));
    return parts.get(request.name(0)).answer(request);
  }

  /** Answers another member, whatever comes of it. */
  public Future<Reply> answer(Question question, Context context) {
    return Future.<Reply>future(done -> answer(request(question, context)).onComplete(done))
        .recover(
            failure -> Future.succeededFuture(Reply.error(Failures.errorOf(failure, label()))));
  }

  private static RequestLabel label() {
    return new RequestLabel(UUID.randomUUID().toString(), Optional.empty(), Optional.empty());
  }

  private NodeRequest request(Question question, Context context) {
    return new NodeRequest(
        Method.of(HttpMethod.valueOf(question.method())),
        List.copyOf(question.path()),
        question.accept(),
        question.body(),
        new NodeRequest.Work() {
          @Override
          public Future<Reply> read(Callable<Reply> reading) {
            return Dispatch.inTime(patience, readers.of(OTHERS, Kind.REQUEST), context, reading);
          }

          @Override
          public Future<Reply> change(Callable<Reply> change) {
            return Dispatch.inTime(patience, readers.ofChanges(OTHERS), context, change);
          }

          @Override
          public Context context() {
            return context;
          }
        });
  }
}
