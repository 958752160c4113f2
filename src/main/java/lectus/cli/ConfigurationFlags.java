package lectus.cli;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ConfigurationKey;
import lectus.config.StoreKeys;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.IGetter;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;

/** The flags of every command that opens a store, and the configuration that they are part of. */
final class ConfigurationFlags {
  private final Map<String, String> environment;
  private final Map<String, String> values = new LinkedHashMap<>();
  private Path file;

  ConfigurationFlags(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Returns the command line of a command that opens a store and serves nobody. */
  CommandLine of(Callable<Integer> command) {
    CommandLine line = new CommandLine(command);
    addStore(line.getCommandSpec());
    return line;
  }

  /** Adds the flags that locate the store to a command, and those that every command takes. */
  void addStore(CommandSpec command) {
    command.addOption(
        OptionSpec.builder("--config")
            .type(Path.class)
            .paramLabel("FILE")
            .description("Configuration file.")
            .setter(
                new ISetter() {
                  @Override
                  @SuppressWarnings("unchecked")
                  public <T> T set(T given) {
                    T before = (T) file;
                    file = (Path) given;
                    return before;
                  }
                })
            .build());
    command.addOption(
        OptionSpec.builder("--set")
            .type(Map.class)
            .auxiliaryTypes(String.class, String.class)
            .paramLabel("KEY=VALUE")
            .description("Sets any key of the configuration file. May be repeated.")
            .setter(
                new ISetter() {
                  @Override
                  public <T> T set(T given) {
                    if (given != null) {
                      ((Map<?, ?>) given)
                          .forEach((key, value) -> values.put((String) key, (String) value));
                    }
                    return given;
                  }
                })
            .build());
    add(command, "--data", "DIRECTORY", StoreKeys.DATA);
    add(command, "--store", "STORE", StoreKeys.STORE);
    add(command, "--cluster-file", "FILE", StoreKeys.CLUSTER_FILE);
  }

  /** Adds a flag for a key to a command. Its help is the key's meaning. */
  void add(CommandSpec command, String flag, String label, ConfigurationKey<?> key) {
    command.addOption(flag(flag, key).type(String.class).paramLabel(label).build());
  }

  /** Adds a flag for a key that takes several words. The flag may be repeated. */
  void addWords(
      CommandSpec command, String flag, String label, ConfigurationKey<List<String>> key) {
    command.addOption(
        flag(flag, key)
            .type(List.class)
            .auxiliaryTypes(String.class)
            .splitRegex(",")
            .paramLabel(label)
            .build());
  }

  /** Adds a flag for a key that is true or false. The flag without a value means true. */
  void addSwitch(CommandSpec command, String flag, ConfigurationKey<Boolean> key) {
    command.addOption(flag(flag, key).type(boolean.class).build());
  }

  private OptionSpec.Builder flag(String flag, ConfigurationKey<?> key) {
    KeyBinding binding = new KeyBinding(key, values);
    return OptionSpec.builder(flag).description(description(key)).getter(binding).setter(binding);
  }

  private static String description(ConfigurationKey<?> key) {
    return key.fallback().isEmpty()
        ? key.meaning()
        : key.meaning() + " Default: " + key.fallback() + ".";
  }

  /**
   * Returns what the command line that was parsed last, its file and the environment set.
   *
   * @throws ConfigurationException an unknown key, or a value that its key does not allow
   */
  Configuration configuration() {
    return read(Optional.ofNullable(file), environment, values);
  }

  /**
   * Returns what a file, the environment and flags set.
   *
   * @param file empty: the one that the environment names, if it does
   * @param flags values by key name
   * @throws ConfigurationException as {@link Configuration#of}
   */
  static Configuration read(
      Optional<Path> file, Map<String, String> environment, Map<String, String> flags) {
    String named = environment.getOrDefault(Configuration.FILE_VARIABLE, "");
    Path inEnvironment = named.isBlank() ? null : Path.of(named);
    return Configuration.of(file.orElse(inEnvironment), environment, flags);
  }

  /** Stores the value of a flag under the key that it sets. */
  private static final class KeyBinding implements IGetter, ISetter {
    private final ConfigurationKey<?> key;
    private final Map<String, String> values;
    private Object given;

    /**
     * @param values by names of keys, as they are set
     */
    KeyBinding(ConfigurationKey<?> key, Map<String, String> values) {
      this.key = key;
      this.values = values;
    }

    /** Returns the value set last; picocli reads it to add the values of a repeated flag. */
    @Override
    @SuppressWarnings("unchecked")
    public <T> T get() {
      return (T) given;
    }

    @Override
    public <T> T set(T value) {
      given = value;
      if (value != null) {
        values.put(key.name(), text(value));
      }
      return value;
    }

    private static String text(Object value) {
      return value instanceof List<?> words
          ? words.stream().map(Object::toString).collect(Collectors.joining(","))
          : value.toString();
    }
  }
}
