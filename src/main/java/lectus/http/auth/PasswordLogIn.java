package lectus.http.auth;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
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
record PasswordLogIn(Accounts accounts) {
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

  /** A name and a password in a header (RFC 7617). */
  record BasicPassword(String name, String password) {
    /** What browsers are made to send to forget a password. */
    private static final BasicPassword LOGGED_OUT = new BasicPassword("_", "_");

    /**
     * @param encoded what follows the name of the scheme
     * @return empty if it is no pair, or the one that stands for nobody
     * @throws LectusException {@code bad_request}: not Base64; {@code unauthorized}: nobody has a
     *     name or password that is not UTF-8
     */
    static Optional<BasicPassword> parse(String encoded) {
      String pair = text(decoded(encoded));
      int colon = pair.indexOf(':');
      return colon < 0
          ? Optional.empty()
          : Optional.of(new BasicPassword(pair.substring(0, colon), pair.substring(colon + 1)))
              .filter(given -> !given.equals(LOGGED_OUT));
    }

    private static byte[] decoded(String encoded) {
      try {
        return Base64.getDecoder().decode(encoded);
      } catch (IllegalArgumentException notBase64) {
        throw LectusException.badRequest("Authorization header has invalid base64 value");
      }
    }

    private static String text(byte[] utf8) {
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
      } catch (CharacterCodingException nobodys) {
        throw PasswordLogIn.incorrect();
      }
    }

    /** Without the password, which must not get into a log. */
    @Override
    public String toString() {
      return "BasicPassword[name=" + name + "]";
    }
  }
}
