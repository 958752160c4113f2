package lectus.cli;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ConfiguredStore;
import lectus.config.Settings;
import lectus.database.SettingsSubspace.SettingName;
import lectus.database.StoredSettings;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;
import lectus.http.ServedSettings.SettingsPlan;
import lectus.store.Store;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lectus settings}: lists, sets and deletes the settings that a store has. */
@Command(
    name = "settings",
    description = {
      "Sets what /_node/_local/_config sets, under the same name, such as cors/origins.",
      "Without a name, lists what the store has in place of its servers' configurations.",
      "The server of an embedded store has to be stopped; a cluster may be running."
    },
    mixinStandardHelpOptions = true)
public final class SettingsCommand implements Callable<Integer> {
  private static final int FAILED = 1;

  private final Console console;

  private final ConfigurationFlags flags;

  @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "section/name")
  private String name;

  @Parameters(index = "1", arity = "0..1", paramLabel = "VALUE", description = "Its new value.")
  private String value;

  @Option(
      names = "--delete",
      description = "Leaves the setting, or without a name all of them, to the configuration.")
  private boolean delete;

  public SettingsCommand(Map<String, String> environment, Console console) {
    this.flags = new ConfigurationFlags(environment);
    this.console = console;
  }

  public CommandLine commandLine() {
    return flags.of(this);
  }

  @Override
  public Integer call() {
    Configuration configuration = flags.configuration();
    if (delete ? value != null : name != null && value == null) {
      console.complain("A setting has a name and a value, or is deleted by its name.");
      return FAILED;
    }
    SettingsPlan plan = Settings.of(configuration);
    try (Store store = ConfiguredStore.open(configuration)) {
      return run(new StoredSettings(store), plan);
    } catch (StoreOpenException held) {
      throw held.isHeld() ? new ConfigurationException(held.getMessage() + elsewhere()) : held;
    } catch (LectusException unusable) {
      console.complain(unusable.error().reason());
      return FAILED;
    }
  }

  private int run(StoredSettings stored, SettingsPlan plan) {
    if (name == null) {
      return delete ? deleteAll(stored) : list(stored);
    }
    Optional<SettingName> given = SettingName.parse(name);
    Optional<SettingName> known = given.flatMap(plan::nameOf);
    if (delete) {
      return delete(stored, known.or(() -> given));
    }
    if (known.isEmpty()) {
      console.complain("There is no setting " + name + " that can be changed.");
      return FAILED;
    }
    plan.check(known.get(), value);
    stored.put(known.get(), value);
    console.say(known.get() + " is " + value + " now.");
    return 0;
  }

  private int list(StoredSettings stored) {
    stored
        .all()
        .forEach((each, text) -> console.say(each + " = " + text.orElse("(of a newer version)")));
    return 0;
  }

  private int deleteAll(StoredSettings stored) {
    if (stored.all().isEmpty()) {
      console.say("The store has no settings; all are as configured.");
    }
    stored.all().keySet().forEach(each -> delete(stored, Optional.of(each)));
    return 0;
  }

  /** Also one that only a newer version knows. */
  private int delete(StoredSettings stored, Optional<SettingName> setting) {
    if (setting.isEmpty() || !stored.all().containsKey(setting.get())) {
      console.complain("The store does not have " + name + ".");
      return FAILED;
    }
    stored.remove(setting.get());
    console.say(setting.get() + " is as configured now.");
    return 0;
  }

  private static String elsewhere() {
    return " A server that runs has its settings changed through PUT and DELETE of"
        + " /_node/_local/_config/SECTION/NAME.";
  }
}
