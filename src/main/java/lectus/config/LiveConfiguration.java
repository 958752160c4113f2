package lectus.config;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.http.ServedSettings;
import lectus.http.SettingsPlan;
import lectus.setting.SettingName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The configuration, and in place of some of its values those of the store. */
public final class LiveConfiguration implements SettingsPlan {
  private static final Logger LOG = LoggerFactory.getLogger(LiveConfiguration.class);

  /** Characters of a value that an answer repeats. */
  private static final int MOST_QUOTED = 100;

  private final Configuration configuration;
  private final Machine machine;

  public LiveConfiguration(Configuration configuration, Machine machine) {
    this.configuration = configuration;
    this.machine = machine;
  }

  @Override
  public ServedSettings with(Map<SettingName, Optional<String>> stored) {
    Map<String, String> values = new HashMap<>();
    Map<SettingName, String> texts = new HashMap<>();
    for (ChangeableKey live : LiveKeys.ALL) {
      Optional<String> text = stored.getOrDefault(live.name(), Optional.empty());
      Optional<String> value = text.flatMap(live::valueOf);
      if (value.isEmpty() && stored.containsKey(live.name())) {
        value = live.safe();
        LOG.warn("The store's value of {} is of no use here.", live.name());
      } else if (value.isPresent()) {
        texts.put(live.name(), text.get());
      }
      value.ifPresent(it -> values.put(live.key().name(), it));
    }
    return settings(values, texts);
  }

  /** Origins that are stored do not switch CORS on; in CouchDB they do not either. */
  private ServedSettings settings(Map<String, String> values, Map<SettingName, String> texts) {
    values.putIfAbsent(
        CorsKeys.CORS_ENABLED.name(),
        Boolean.toString(new ConfiguredCors(configuration).isEnabled()));
    return new Settings(configuration.with(values), machine).served(texts);
  }

  @Override
  public Optional<SettingName> nameOf(SettingName name) {
    return LiveKeys.of(name).map(ChangeableKey::name);
  }

  @Override
  public void check(SettingName name, String text) {
    ChangeableKey live = LiveKeys.of(name).orElseThrow();
    if (text.chars().anyMatch(Character::isISOControl)) {
      throw LectusException.badRequest(name + " must be on one line, without control characters.");
    }
    if (live.valueOf(text).isEmpty()) {
      throw LectusException.badRequest(
          name + " must be " + live.type().wanted() + found(text) + ".");
    }
  }

  private static String found(String text) {
    return text.length() > MOST_QUOTED ? "" : ", not \"" + text + "\"";
  }
}
