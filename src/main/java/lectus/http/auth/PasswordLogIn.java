package lectus.http.auth;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import lectus.account.Accounts;
import lectus.account.Accounts.NamedAccount;
import lectus.account.LoggingIn.LogIn;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.ClientAddress;
import lectus.http.exchange.Exchange;

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
            accounts.loggingIn().beginLogIn(given.name(), given.password(), address));
  }

  /** Like {@link #verify}, with the account as it is now, for a session that begins with it. */
  Future<NamedAccount> verifyForSession(Exchange exchange, BasicPassword given) {
    return onLoop(
        exchange.context(),
        accounts
            .loggingIn()
            .beginSession(given.name(), given.password(), ClientAddress.of(exchange)));
  }

  private static Future<NamedAccount> onLoop(Context loop, CompletionStage<LogIn> begun) {
    return Future.fromCompletionStage(begun, loop)
        .recover(failure -> Future.failedFuture(cause(failure)))
        .map(PasswordLogIn::account);
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
