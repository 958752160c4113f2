package lectus.config;

import lectus.http.LogSettings;
import lectus.log.LogFormat;

/** What the keys of the log decide together. */
final class ConfiguredLog {
  private final Configuration configuration;

  ConfiguredLog(Configuration configuration) {
    this.configuration = configuration;
  }

  LogSettings settings() {
    return new LogSettings(
        configuration.get(LogKeys.ACCESS_LOG), format(), configuration.get(LogKeys.SLOW_MILLIS));
  }

  private LogFormat format() {
    return configuration.get(LogKeys.FORMAT).equals("json") ? LogFormat.JSON : LogFormat.TEXT;
  }
}
