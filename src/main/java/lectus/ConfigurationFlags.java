package lectus;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** The flags of every command that opens a store, and the configuration they are a part of. */
final class ConfigurationFlags {
  private final Map<String, String> values = new LinkedHashMap<>();

  @Option(names = "--config", paramLabel = "FILE", description = "Configuration file.")
  private Path file;

  @Option(names = "--data", paramLabel = "DIRECTORY", description = "Where data is kept: ./data.")
  private void data(String directory) {
    put(Keys.DATA, directory);
  }

  @Option(names = "--store", paramLabel = "STORE", description = "embedded or foundationdb.")
  private void store(String store) {
    put(Keys.STORE, store);
  }

  @Option(
      names = "--cluster-file",
      paramLabel = "FILE",
      description = "FoundationDB's cluster file, for --store foundationdb.")
  private void clusterFile(String clusterFile) {
    put(Keys.CLUSTER_FILE, clusterFile);
  }

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Sets any key of the configuration file. May be repeated.")
  private void set(Map<String, String> given) {
    values.putAll(given);
  }

  /** What a flag of one command says. */
  void put(Key<?> key, String text) {
    values.put(key.name(), text);
  }

  /**
   * The configuration of the file, the environment and these flags.
   *
   * @throws ConfigurationException an unknown key, or a value that its key does not take
   */
  Configuration over(Map<String, String> environment) {
    return Configuration.of(file != null ? file : fileOf(environment), environment, values);
  }

  private static Path fileOf(Map<String, String> environment) {
    String named = environment.get(Configuration.FILE_VARIABLE);
    return named == null || named.isBlank() ? null : Path.of(named);
  }
}
