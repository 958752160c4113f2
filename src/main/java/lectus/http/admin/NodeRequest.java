package lectus.http.admin;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.Callable;
import lectus.http.Method;
import lectus.http.Reply;

/**
 * A request to one of a server's own resources, by a client or through another member.
 *
 * @param path names below the server's own, the resource's first
 * @param accept the media types that are wanted; empty if anything will do
 * @param body empty but for PUT and POST
 */
record NodeRequest(Method method, List<String> path, String accept, byte[] body, Work work) {
  /** Where work is done that waits. */
  interface Work {
    /** Runs what only reads. */
    Future<Reply> read(Callable<Reply> reading);

    /** Runs what waits for commits. */
    Future<Reply> change(Callable<Reply> change);

    /** Returns the event loop on which the request is answered. */
    Context context();
  }

  String name(int index) {
    return path.get(index);
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
