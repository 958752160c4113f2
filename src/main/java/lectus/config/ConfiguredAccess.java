package lectus.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lectus.access.SecurityObject;
import lectus.account.PublicFields;
import lectus.http.AccessSettings;
import lectus.http.CookieSettings;
import lectus.http.UserLimits;
import lectus.http.token.TokenSettings;

/** Who has to log in, and how, as it is configured. */
final class ConfiguredAccess {
  private final Configuration configuration;

  ConfiguredAccess(Configuration configuration) {
    this.configuration = configuration;
  }

  /**
   * @throws ConfigurationException values that do not go together, or a file that cannot be read
   */
  AccessSettings settings() {
    return new AccessSettings(
        configuration.get(AccessKeys.REQUIRE_VALID_USER),
        configuration.get(AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP),
        logInPage(),
        configuration.get(AccessKeys.ADMIN_ONLY_ALL_DBS),
        unset(),
        new PublicFields(configuration.get(AccountKeys.PUBLIC_FIELDS)),
        cookies(),
        proxySecret(),
        tokens(),
        new UserLimits(
            configuration.get(AccessKeys.MAX_REQUESTS_PER_SECOND),
            configuration.get(AccessKeys.MAX_USER_CONNECTIONS),
            configuration.get(AccessKeys.MAX_USER_SUBSCRIPTIONS)));
  }

  /** Returns who may use a database whose security was never set. */
  SecurityObject unset() {
    return configuration.get(AccessKeys.DEFAULT_SECURITY).equals("everyone")
        ? SecurityObject.EVERYBODY
        : SecurityObject.ADMIN_ONLY;
  }

  private Optional<String> logInPage() {
    String page = configuration.get(AccessKeys.AUTHENTICATION_REDIRECT);
    if (!page.matches("(/[!-~]*)?")) {
      throw new ConfigurationException(
          "\"access.authentication-redirect\" (" + page + ") is no path that begins with a /.");
    }
    return given(page);
  }

  private CookieSettings cookies() {
    String domain = configuration.get(AccessKeys.COOKIE_DOMAIN);
    if (!domain.matches("[A-Za-z0-9.-]*")) {
      throw new ConfigurationException("\"access.cookie-domain\" (" + domain + ") is no domain.");
    }
    String site = configuration.get(AccessKeys.COOKIE_SAME_SITE);
    return new CookieSettings(
        configuration.get(AccessKeys.COOKIE_SECONDS),
        configuration.get(AccessKeys.PERSISTENT_COOKIES),
        given(domain),
        site.equals("unset") ? Optional.empty() : Optional.of(capitalized(site)));
  }

  private static String capitalized(String word) {
    return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
  }

  /** Without a secret, whoever reaches the port could be anybody. */
  private Optional<String> proxySecret() {
    Optional<String> secret = given(configuration.get(AccessKeys.PROXY_SECRET));
    boolean isOn = configuration.get(AccessKeys.PROXY_AUTH);
    if (isOn && secret.isEmpty()) {
      throw new ConfigurationException(
          "\"access.proxy-auth\" needs \"access.proxy-secret\": otherwise whoever reaches the port"
              + " could say that he is anybody.");
    }
    return secret.filter(it -> isOn);
  }

  private TokenSettings tokens() {
    Map<String, Optional<String>> required = new HashMap<>();
    for (String claim : configuration.get(AccessKeys.JWT_REQUIRED_CLAIMS)) {
      int equals = claim.indexOf('=');
      if (equals < 0) {
        required.put(claim, Optional.empty());
      } else {
        required.put(claim.substring(0, equals), Optional.of(claim.substring(equals + 1)));
      }
    }
    return new TokenSettings(
        given(configuration.get(AccessKeys.JWT_KEYS)).map(ConfiguredAccess::readable),
        configuration.get(AccessKeys.JWT_ROLES_CLAIM),
        required);
  }

  private static Path readable(String file) {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
      throw new ConfigurationException("The keys of tokens in " + file + " cannot be read.");
    }
    return path;
  }

  private static Optional<String> given(String text) {
    return Optional.of(text).filter(it -> !it.isBlank());
  }
}
