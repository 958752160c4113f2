package lectus.http.auth;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import lectus.account.Accounts.NamedAccount;
import lectus.database.UserContext;
import lectus.http.HttpSettings.CookieSettings;
import lectus.http.auth.Sessions.AccountView;
import lectus.http.exchange.Exchange.Identity;
import org.junit.jupiter.api.Test;

/** When sessions are over, and when they are prolonged. */
final class SessionsTest {
  private static final byte[] SECRET = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);
  private static final NamedAccount JAN =
      new NamedAccount(UserContext.named("jan", Set.of("a")), "salt");
  private static final NamedAccount COLONS =
      new NamedAccount(UserContext.named("a:b:5F", Set.of()), "salt");

  private static final CookieSettings SETTINGS =
      new CookieSettings(600, true, Optional.empty(), Optional.of("Lax"));

  private static Sessions at(long seconds) {
    return new Sessions(() -> SETTINGS, InstantSource.fixed(Instant.ofEpochSecond(seconds)));
  }

  private static Optional<Identity> identify(long seconds, String value, AccountView accounts) {
    return at(seconds).identify(value, false, accounts);
  }

  /** The accounts of a store, as a test says they are. */
  private record Known(NamedAccount one, byte[] secret) implements AccountView {
    @Override
    public Optional<NamedAccount> account(String name) {
      return Optional.of(one).filter(it -> it.user().name().equals(Optional.of(name)));
    }
  }

  private static final Known KNOWN = new Known(JAN, SECRET);

  private static String begun(NamedAccount account) {
    return SessionCookie.of(account, Instant.ofEpochSecond(1_000), SECRET).value();
  }

  @Test
  void a_session_is_over_after_its_time() {
    String value = begun(JAN);

    assertThat(identify(1_599, value, KNOWN)).isPresent();
    assertThat(identify(1_600, value, KNOWN)).isEmpty();
  }

  @Test
  void it_is_prolonged_when_a_tenth_of_its_time_is_over() {
    String value = begun(JAN);

    assertThat(identify(1_060, value, KNOWN).orElseThrow().renewedCookie()).isEmpty();
    String renewed = identify(1_061, value, KNOWN).orElseThrow().renewedCookie().orElseThrow();
    assertThat(renewed)
        .isEqualTo(
            "AuthSession="
                + SessionCookie.of(JAN, Instant.ofEpochSecond(1_061), SECRET).value()
                + "; Version=1; Expires=Thu, 01-Jan-1970 00:27:41 GMT; Max-Age=600; Path=/;"
                + " HttpOnly; SameSite=Lax");
  }

  @Test
  void another_salt_or_secret_ends_it() {
    String value = begun(JAN);
    NamedAccount changed = new NamedAccount(JAN.user(), "other");

    assertThat(identify(1_001, value, new Known(changed, SECRET))).isEmpty();
    assertThat(identify(1_001, value, new Known(JAN, "other".getBytes(StandardCharsets.UTF_8))))
        .isEmpty();
    assertThat(identify(1_001, value, new Known(COLONS, SECRET))).isEmpty();
  }

  @Test
  void names_may_have_colons() {
    assertThat(identify(1_001, begun(COLONS), new Known(COLONS, SECRET)).orElseThrow().user())
        .isEqualTo(COLONS.user());
  }

  @Test
  void roles_are_those_of_the_account_now() {
    NamedAccount promoted = new NamedAccount(UserContext.named("jan", Set.of("b")), "salt");

    Identity identity = identify(1_001, begun(JAN), new Known(promoted, SECRET)).orElseThrow();

    assertThat(identity.user().roles()).containsExactly("b");
    assertThat(identity.handler()).contains("cookie");
  }

  @Test
  void what_a_browser_keeps_is_configured() {
    CookieSettings settings =
        new CookieSettings(600, false, Optional.of("example.com"), Optional.empty());

    assertThat(new Sessions(() -> settings, InstantSource.system()).cookie("x", true))
        .isEqualTo("AuthSession=x; Version=1; Secure; Domain=example.com; Path=/; HttpOnly");
  }
}
