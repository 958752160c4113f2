package lectus.http.document;

import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.http.exchange.Exchange;
import lectus.http.message.Reply;
import lectus.measure.StageNotes;

/**
 * Answers a request when its only edit is done and what follows from it, on the request's own event
 * loop.
 */
record AnsweringThen(Exchange exchange, Function<EditOutcome, Future<Reply>> reply)
    implements Completion {
  @Override
  public void written(List<EditOutcome> outcomes) {
    EditOutcome outcome = outcomes.get(0);
    exchange.context().runOnContext(none -> exchange.guarded(() -> answer(outcome)));
  }

  private void answer(EditOutcome outcome) {
    reply.apply(outcome).onComplete(exchange::reply, exchange::fail);
  }

  @Override
  public StageNotes stages() {
    return exchange.stages();
  }

  @Override
  public void failed(Throwable failure) {
    exchange.context().runOnContext(none -> exchange.fail(failure));
  }
}
