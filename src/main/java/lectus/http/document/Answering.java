package lectus.http.document;

import java.util.List;
import java.util.function.Function;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.http.exchange.Exchange;
import lectus.http.message.Reply;
import lectus.metrics.StageNotes;

/** Answers a request when its only edit is done, on the request's own event loop. */
record Answering(Exchange exchange, Function<EditOutcome, Reply> reply) implements Completion {
  @Override
  public void written(List<EditOutcome> outcomes) {
    EditOutcome outcome = outcomes.get(0);
    exchange.context().runOnContext(none -> exchange.guarded(() -> answer(outcome)));
  }

  private void answer(EditOutcome outcome) {
    exchange.reply(reply.apply(outcome));
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
