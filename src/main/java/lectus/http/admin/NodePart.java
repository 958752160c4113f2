package lectus.http.admin;

import io.vertx.core.Future;
import lectus.http.message.Reply;

/** One of a server's own resources, below {@code /_node/{node}}. */
interface NodePart {
  /**
   * Begins to answer, on an event loop, which it must not block.
   *
   * @throws lectus.error.LectusException an error of the request, which the caller answers
   */
  Future<Reply> answer(NodeRequest request);
}
