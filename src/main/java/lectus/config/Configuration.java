package lectus.config;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The values of all {@link KnownKeys}: defaults, overridden by the file, then by the environment,
 * then by flags. Every value is parsed before anybody can read it.
 */
public final class Configuration {
  /** Names the configuration file, like the flag {@code --config}; so it is not a key itself. */
  public static final String FILE_VARIABLE = "LECTUS_CONFIG";

  /** Variables that are secrets, in place of which a file may be named. */
  public static final Set<String> SECRET_VARIABLES =
      KnownKeys.ALL.stream()
          .filter(key -> key.type() == ValueType.SECRET)
          .map(ConfigurationKey::variable)
          .collect(Collectors.toUnmodifiableSet());

  private static final String VARIABLE_PREFIX = "LECTUS_";

  private final Map<String, String> values;

  private Configuration(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /**
   * @param file null for none
   * @param flags values by key name, from the command line
   * @throws ConfigurationException an unknown key, or a value that its key does not allow
   */
  public static Configuration of(
      Path file, Map<String, String> environment, Map<String, String> flags) {
    Map<String, String> values = new HashMap<>();
    KnownKeys.ALL.forEach(key -> values.put(key.name(), key.fallback()));
    if (file != null) {
      readFile(file, values);
    }
    readEnvironment(environment, values);
    flags.forEach((name, text) -> put(values, name, text, "on the command line"));
    return new Configuration(values);
  }

  /**
   * Returns the same with other values.
   *
   * @param others by key name; their keys take them
   */
  public Configuration with(Map<String, String> others) {
    Map<String, String> all = new HashMap<>(values);
    all.putAll(others);
    return new Configuration(all);
  }

  /** Returns the same with the default of each key whose name is not wanted. */
  public Configuration only(Predicate<String> wanted) {
    Map<String, String> all = new HashMap<>(values);
    KnownKeys.ALL.stream()
        .filter(key -> !wanted.test(key.name()))
        .forEach(key -> all.put(key.name(), key.fallback()));
    return new Configuration(all);
  }

  public <T> T get(ConfigurationKey<T> key) {
    return key.parse(values.get(key.name()));
  }

  private static void readFile(Path file, Map<String, String> values) {
    int number = 0;
    for (String line : lines(file)) {
      number++;
      String content = line.strip();
      if (content.isEmpty() || content.startsWith("#")) {
        continue;
      }
      String where = "in " + file + ", line " + number;
      int equals = content.indexOf('=');
      if (equals < 1) {
        throw new ConfigurationException("There is no \"key = value\" " + where + ".");
      }
      put(
          values,
          content.substring(0, equals).strip(),
          content.substring(equals + 1).strip(),
          where);
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (MalformedInputException e) {
      throw new ConfigurationException("The configuration file " + file + " is not UTF-8.");
    } catch (IOException e) {
      throw new ConfigurationException("The configuration file " + file + " cannot be read.");
    }
  }

  private static void readEnvironment(Map<String, String> environment, Map<String, String> values) {
    environment.forEach(
        (variable, text) -> {
          if (variable.startsWith(VARIABLE_PREFIX) && !variable.equals(FILE_VARIABLE)) {
            ConfigurationKey<?> key = KnownKeys.BY_VARIABLE.get(variable);
            if (key == null) {
              throw new ConfigurationException(
                  "The environment variable %s is no configuration key of Lectus%s."
                      .formatted(variable, meant(variable, KnownKeys.BY_VARIABLE.keySet())));
            }
            put(values, key.name(), text, "in the environment variable " + variable);
          }
        });
  }

  private static void put(Map<String, String> values, String name, String text, String where) {
    ConfigurationKey<?> key = KnownKeys.BY_NAME.get(name);
    if (key == null) {
      throw new ConfigurationException(
          "There is no configuration key \"%s\", %s%s."
              .formatted(name, where, meant(name, KnownKeys.BY_NAME.keySet())));
    }
    requireValid(key, text, where);
    values.put(name, text);
  }

  private static String meant(String name, Set<String> known) {
    return NearName.of(name, known).map(it -> "; \"" + it + "\" is one").orElse("");
  }

  private static Object requireValid(ConfigurationKey<?> key, String text, String where) {
    try {
      return key.parse(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException(
          "\"%s\" must be %s, not \"%s\", %s.".formatted(key.name(), e.getMessage(), text, where));
    }
  }

  /** Names that were probably meant. */
  public static final class NearName {
    private static final int MIN_CHANGES = 2;

    /** A third of its characters may be wrong. */
    private static final int CHARACTERS_OF_A_CHANGE = 3;

    private NearName() {}

    /** Returns the known name that takes the fewest changed characters, if they are few. */
    public static Optional<String> of(String given, Collection<String> known) {
      int most = Math.max(MIN_CHANGES, given.length() / CHARACTERS_OF_A_CHANGE);
      return known.stream()
          .filter(name -> changes(given, name) <= most)
          .min(Comparator.comparingInt(name -> changes(given, name)));
    }

    /** Returns how many characters have to be replaced, inserted or left out. */
    private static int changes(String from, String to) {
      int[] row = new int[to.length() + 1];
      for (int j = 0; j < row.length; j++) {
        row[j] = j;
      }
      for (int i = 1; i <= from.length(); i++) {
        int before = row[0];
        row[0] = i;
        for (int j = 1; j < row.length; j++) {
          int replaced = before + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
          before = row[j];
          row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
        }
      }
      return row[to.length()];
    }
  }
}
