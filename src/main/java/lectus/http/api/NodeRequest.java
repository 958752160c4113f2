package lectus.http.api;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.exchange.Requests;

/**
 * A request to one of a server's own resources, by a client or through another member.
 *
 * @param path names below the server's own, the resource's first
 * @param accept the media types that are wanted; empty if anything will do
 * @param body empty but for PUT and POST
 * @param reading does what only reads
 * @param changing does what waits for commits
 * @param context the event loop on which the request is answered
 */
record NodeRequest(
    Method method,
    List<String> path,
    String accept,
    byte[] body,
    Function<Callable<Reply>, Future<Reply>> reading,
    Function<Callable<Reply>, Future<Reply>> changing,
    Context context) {

  /**
   * @throws lectus.error.LectusException as {@link Requests#allow}
   */
  void allow(String allow) {
    Requests.allow(method, allow);
  }

  Future<Reply> read(Callable<Reply> work) {
    return reading.apply(work);
  }

  Future<Reply> change(Callable<Reply> work) {
    return changing.apply(work);
  }

  /** One of a server's own resources, below {@code /_node/{node}}. */
  interface NodePart {
    /**
     * Begins to answer, on an event loop, which it must not block.
     *
     * @throws lectus.error.LectusException an error of the request, which the caller answers
     */
    Future<Reply> answer(NodeRequest request);
  }
}
