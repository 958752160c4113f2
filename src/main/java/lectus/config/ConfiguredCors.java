package lectus.config;

import java.util.List;
import lectus.http.CorsSettings;

/** Which web pages may use a server, as it is configured. */
final class ConfiguredCors {
  private final Configuration configuration;

  ConfiguredCors(Configuration configuration) {
    this.configuration = configuration;
  }

  CorsSettings settings() {
    return new CorsSettings(
        isEnabled(),
        origins(),
        sendsCredentials(),
        configuration.get(CorsKeys.CORS_METHODS),
        configuration.get(CorsKeys.CORS_HEADERS),
        configuration.get(CorsKeys.CORS_MAX_AGE));
  }

  boolean isEnabled() {
    String enabled = configuration.get(CorsKeys.CORS_ENABLED);
    return enabled.equals(CorsKeys.WITH_ORIGINS)
        ? !origins().isEmpty()
        : Boolean.parseBoolean(enabled);
  }

  private boolean sendsCredentials() {
    String credentials = configuration.get(CorsKeys.CORS_CREDENTIALS);
    return credentials.equals(CorsKeys.NAMED_ORIGINS)
        ? !origins().isEmpty() && !letEveryPageIn()
        : Boolean.parseBoolean(credentials);
  }

  /** Each page can show another in a sandbox, where the origin is null. */
  private boolean letEveryPageIn() {
    return origins().contains(CorsSettings.ALL) || origins().contains("null");
  }

  /** CouchDB's tools set both, so the store may say so; in a file it is more likely a mistake. */
  void check() {
    if (letEveryPageIn() && sendsCredentials()) {
      throw new ConfigurationException(
          "\"cors.origins\" must name the origins when \"cors.credentials\" is true: with \"*\""
              + " or \"null\" every web page could act in the name of whoever visits it.");
    }
  }

  private List<String> origins() {
    return configuration.get(CorsKeys.CORS_ORIGINS);
  }
}
