package lectus.http.auth;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import lectus.account.Accounts;
import lectus.account.LogIn;
import lectus.account.NamedAccount;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.WorkerDispatch;

/** Log-in by name and password. One that was verified lately is known at once. */
final class PasswordLogIn {
  private final Accounts accounts;

  PasswordLogIn(Accounts accounts) {
    this.accounts = accounts;
  }

  /**
   * @return fails with {@code unauthorized} (401), with {@code forbidden} (403) after too many
   *     wrong passwords, or with {@code too_many_requests} (429) after too many wrong names; on the
   *     exchange's event loop
   */
  Future<NamedAccount> verify(Exchange exchange, BasicPassword given) {
    String address = ClientAddress.of(exchange);
    Optional<NamedAccount> known =
        accounts.loggingIn().recall(given.name(), given.password(), address);
    return known.isPresent()
        ? Future.succeededFuture(known.get())
        : onLoop(
                exchange.context(),
                accounts.loggingIn().beginLogIn(given.name(), given.password(), address))
            .map(PasswordLogIn::account);
  }

  /** Like {@link #verify}, with the account as it is now, for a session that begins with it. */
  Future<NamedAccount> verifyForSession(Exchange exchange, BasicPassword given) {
    return onLoop(
            exchange.context(),
            accounts
                .loggingIn()
                .beginSession(given.name(), given.password(), ClientAddress.of(exchange)))
        .map(PasswordLogIn::account);
  }

  private static Future<LogIn> onLoop(Context loop, CompletionStage<LogIn> begun) {
    Promise<LogIn> promise = Promise.promise();
    begun.whenComplete(
        (outcome, failure) -> WorkerDispatch.post(loop, () -> settle(promise, outcome, failure)));
    return promise.future();
  }

  /**
   * @param failure null if there is an outcome
   */
  private static void settle(Promise<LogIn> promise, LogIn outcome, Throwable failure) {
    if (failure == null) {
      promise.complete(outcome);
    } else {
      promise.fail(cause(failure));
    }
  }

  private static Throwable cause(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  private static NamedAccount account(LogIn outcome) {
    if (outcome instanceof LogIn.Granted granted) {
      return granted.account();
    }
    throw refusal(outcome);
  }

  private static LectusException refusal(LogIn outcome) {
    if (outcome instanceof LogIn.Slowed slowed) {
      return tooMany(slowed.retryAfter());
    }
    if (outcome instanceof LogIn.LockedOut) {
      return LectusException.forbidden(
          "Account is temporarily locked due to multiple authentication failures");
    }
    return outcome instanceof LogIn.Conflicted
        ? LectusException.unauthorized(
            "User document conflicts must be resolved before the document is used for"
                + " authentication purposes.")
        : incorrect();
  }

  private static LectusException tooMany(Duration pause) {
    int seconds = (int) pause.plusSeconds(1).toSeconds();
    return new LectusException(
        new LectusError.TooManyRequests(
            "Wrong passwords for too many names came from this address.", seconds));
  }

  static LectusException incorrect() {
    return LectusException.unauthorized("Name or password is incorrect.");
  }
}
