package lectus.http.access;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.account.Account;
import lectus.account.Accounts;
import lectus.account.LogIn;
import lectus.error.LectusException;
import lectus.http.ReaderTurns;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Offload;

/**
 * Log-in by name and password. One that was verified lately is known at once; others are verified on
 * threads of their own, because it takes as long as many reads.
 */
final class PasswordLogIn {
  private final Accounts accounts;
  private final ReaderTurns turns;

  PasswordLogIn(Accounts accounts, ReaderTurns turns) {
    this.accounts = accounts;
    this.turns = turns;
  }

  /**
   * @param address the client's
   * @return fails with {@code unauthorized} (401), or with {@code forbidden} (403) after too many
   *     wrong passwords
   */
  Future<Account> verify(Exchange exchange, BasicPassword given, String address) {
    Optional<Account> known = accounts.recall(given.name(), given.password());
    return known.isPresent()
        ? Future.succeededFuture(known.get())
        : Offload.inTime(
            exchange.patience(),
            turns.ofLogIns(address),
            exchange.context(),
            () -> account(accounts.logIn(given.name(), given.password(), address)));
  }

  private static Account account(LogIn outcome) {
    if (outcome instanceof LogIn.Granted granted) {
      return granted.account();
    }
    throw outcome instanceof LogIn.LockedOut
        ? LectusException.forbidden(
            "Account is temporarily locked due to multiple authentication failures")
        : incorrect();
  }

  static LectusException incorrect() {
    return LectusException.unauthorized("Name or password is incorrect.");
  }
}
