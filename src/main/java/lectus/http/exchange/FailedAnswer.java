package lectus.http.exchange;

import lectus.error.LectusError;

/** The answer to a request that failed, on its event loop. */
final class FailedAnswer {
  private final Exchange exchange;
  private boolean databaseLookedUp;

  FailedAnswer(Exchange exchange) {
    this.exchange = exchange;
  }

  /** From now on errors are answered at once, without looking up the database. */
  void lookUpNothing() {
    databaseLookedUp = true;
  }

  /**
   * Answers an error, or that the database does not exist; resets the connection if an answer has
   * begun. It is not a failure if the client left before its answer was begun.
   */
  void send(Throwable failure) {
    if (failure instanceof ClientLeft || ClientFaults.isDeparture(failure)) {
      exchange.abandoned();
      return;
    }
    LectusError error = Failures.errorOf(failure, exchange.label());
    DatabaseFirst databases = exchange.loop().databaseFirst();
    if (exchange.response().headWritten()) {
      exchange.reset();
    } else if (!databaseLookedUp && databases.concerns(exchange, error)) {
      databaseLookedUp = true;
      exchange.answer(() -> databases.insteadOf(error, exchange));
    } else {
      exchange.reply(Challenge.with(exchange, error));
    }
  }
}
