package lectus.http.node;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.error.LectusException;
import lectus.http.ChangeableSettings;
import lectus.http.ServedSettings;
import lectus.http.SettingsPlan;
import lectus.setting.LiveSettings;
import lectus.setting.SettingName;

/**
 * What is in force, under CouchDB's names, and what of it is changed. A change is the store's: all
 * of its servers follow it, and keep it when they are restarted.
 */
final class CouchSettings {
  private static final String UNKNOWN = "unknown_config_value";

  private final String storeId;
  private final LiveSettings<ServedSettings> live;
  private final SettingsPlan plan;
  private final LockOut lockOut;

  CouchSettings(String storeId, ChangeableSettings settings, LockOut lockOut) {
    this.storeId = storeId;
    this.live = settings.live();
    this.plan = settings.plan();
    this.lockOut = lockOut;
  }

  /** Returns the values in force, in the order of their names. */
  Map<SettingName, String> values() {
    return values(live.current());
  }

  private Map<SettingName, String> values(ServedSettings settings) {
    Map<SettingName, String> values = new TreeMap<>(settings.texts());
    for (ConfigEntry entry : new CouchConfig(storeId, settings).entries()) {
      values.put(entry.name(), textOf(settings, entry.name()).orElse(entry.value()));
    }
    return values;
  }

  private Optional<String> textOf(ServedSettings settings, SettingName name) {
    return plan.nameOf(name).map(settings.texts()::get);
  }

  /**
   * Returns the value of a setting, which may have several names.
   *
   * @throws LectusException {@code not_found}: there is none
   */
  String value(SettingName name) {
    return find(live.current(), name).orElseThrow(() -> LectusException.notFound(UNKNOWN));
  }

  private Optional<String> find(ServedSettings settings, SettingName name) {
    Map<SettingName, String> values = values(settings);
    return Optional.ofNullable(values.get(name)).or(() -> plan.nameOf(name).map(values::get));
  }

  /**
   * Sets a value, which is in force on this server when this returns. Waits for the store. What
   * cannot be changed may be set to what is in force: set-up scripts that find what they want go
   * on.
   *
   * @return the former value, as CouchDB does; empty if there was none
   * @throws LectusException {@code bad_request}: there is no such setting, it does not take this
   *     value, or nobody could log in
   */
  String put(SettingName name, String text) {
    Optional<SettingName> stored = plan.nameOf(name);
    if (stored.isEmpty()) {
      return kept(name, text);
    }
    plan.check(stored.get(), text);
    lockOut.checkSetting(stored.get(), text);
    return live.put(stored.get(), text).or(() -> find(live.configured(), name)).orElse("");
  }

  /**
   * Leaves a setting to the configuration again. Waits for the store.
   *
   * @return the former value
   * @throws LectusException {@code not_found}: there was none; {@code bad_request}: it cannot be
   *     changed, or nobody could log in
   */
  String remove(SettingName name) {
    Optional<SettingName> stored = plan.nameOf(name);
    if (stored.isEmpty()) {
      throw LectusException.badRequest(
          fixed(name).orElseThrow(() -> LectusException.notFound(UNKNOWN)).advice());
    }
    Optional<String> configured = find(live.configured(), name);
    lockOut.checkSetting(stored.get(), configured.orElse(""));
    return live.remove(stored.get())
        .or(() -> configured)
        .orElseThrow(() -> LectusException.notFound(UNKNOWN));
  }

  private String kept(SettingName name, String text) {
    ConfigEntry entry =
        fixed(name)
            .orElseThrow(
                () -> LectusException.badRequest("This is no setting of Lectus; nothing was set."));
    if (!entry.isInForce(text)) {
      throw LectusException.badRequest(entry.advice());
    }
    return entry.value();
  }

  private Optional<ConfigEntry> fixed(SettingName name) {
    return new CouchConfig(storeId, live.current())
        .entries().stream().filter(it -> it.name().equals(name)).findFirst();
  }
}
