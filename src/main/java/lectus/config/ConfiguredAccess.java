package lectus.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lectus.account.UserDocuments.PublicFields;
import lectus.database.SecurityObject;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.HttpSettings.CookieSettings;
import lectus.http.HttpSettings.MalformedKeysException;
import lectus.http.HttpSettings.TokenSettings;
import lectus.http.HttpSettings.UserLimits;

/** Who has to log in, and how, as it is configured. */
final class ConfiguredAccess {
  private final Configuration configuration;

  ConfiguredAccess(Configuration configuration) {
    this.configuration = configuration;
  }

  /**
   * @throws ConfigurationException values that do not go together, or a file that cannot be read
   */
  void check() {
    if (configuration.get(AccessKeys.PROXY_AUTH) && proxySecret().isEmpty()) {
      throw new ConfigurationException(
          "\"access.proxy-auth\" needs \"access.proxy-secret\": otherwise whoever reaches the port"
              + " could say that it is anybody.");
    }
    given(configuration.get(AccessKeys.JWT_KEYS)).ifPresent(ConfiguredAccess::checkKeys);
  }

  AccessSettings settings() {
    return new AccessSettings(
        configuration.get(AccessKeys.REQUIRE_VALID_USER),
        configuration.get(AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP),
        given(configuration.get(AccessKeys.CHALLENGE)),
        given(configuration.get(AccessKeys.AUTHENTICATION_REDIRECT)),
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

  private CookieSettings cookies() {
    String site = configuration.get(AccessKeys.COOKIE_SAME_SITE);
    return new CookieSettings(
        configuration.get(AccessKeys.COOKIE_SECONDS),
        configuration.get(AccessKeys.PERSISTENT_COOKIES),
        given(configuration.get(AccessKeys.COOKIE_DOMAIN)),
        site.equals("unset") ? Optional.empty() : Optional.of(capitalized(site)));
  }

  private static String capitalized(String word) {
    return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
  }

  /** Without a secret, whoever reaches the port could be anybody. */
  private Optional<String> proxySecret() {
    return given(configuration.get(AccessKeys.PROXY_SECRET))
        .filter(it -> configuration.get(AccessKeys.PROXY_AUTH));
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
        given(configuration.get(AccessKeys.JWT_KEYS)).map(Path::of),
        configuration.get(AccessKeys.JWT_ROLES_CLAIM),
        required);
  }

  private static void checkKeys(String file) {
    try {
      TokenSettings.checkKeys(Path.of(file));
    } catch (IOException unreadable) {
      throw new ConfigurationException("The keys of tokens in " + file + " cannot be read.");
    } catch (MalformedKeysException malformed) {
      throw new ConfigurationException(
          "The keys of tokens in " + file + " cannot be used: " + malformed.getMessage() + ".");
    }
  }

  private static Optional<String> given(String text) {
    return Optional.of(text).filter(it -> !it.isBlank());
  }
}
