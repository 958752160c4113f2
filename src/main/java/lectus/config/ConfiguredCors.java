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
        configuration.get(CorsKeys.CORS_CREDENTIALS),
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

  /** CouchDB's tools set both, so the store may say so; in a file it is more likely a mistake. */
  void check() {
    CorsSettings cors = settings();
    if (cors.allowsAll() && cors.credentials()) {
      throw new ConfigurationException(
          "\"cors.origins\" must name the origins when \"cors.credentials\" is true: with \"*\""
              + " every web page could act in the name of whoever visits it.");
    }
  }

  private List<String> origins() {
    return configuration.get(CorsKeys.CORS_ORIGINS);
  }
}
