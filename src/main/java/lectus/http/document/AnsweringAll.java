package lectus.http.document;

import java.util.List;
import java.util.function.Function;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.http.exchange.Exchange;
import lectus.http.message.Reply;

/** Answers a request when all its edits are done, on the request's own event loop. */
record AnsweringAll(Exchange exchange, Function<List<EditOutcome>, Reply> reply)
    implements Completion {
  @Override
  public void written(List<EditOutcome> outcomes) {
    exchange
        .context()
        .runOnContext(none -> exchange.guarded(() -> exchange.reply(reply.apply(outcomes))));
  }

  @Override
  public void failed(Throwable failure) {
    exchange.context().runOnContext(none -> exchange.fail(failure));
  }
}
