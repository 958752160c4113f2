package lectus;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lectus serve}: a flag for what is set often, {@code --set} for every other key. */
@Command(
    name = "serve",
    description = "Starts the server and runs it until it is told to stop.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
final class ServeCommand implements Callable<Integer> {
  private final Map<String, String> environment;
  private final Console console;

  @Option(names = "--config", paramLabel = "FILE", description = "Configuration file.")
  private Path file;

  private final Map<String, String> flags = new LinkedHashMap<>();

  ServeCommand(Map<String, String> environment, Console console) {
    this.environment = environment;
    this.console = console;
  }

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description = "Address to listen on: 127.0.0.1.")
  private void host(String host) {
    flags.put(Keys.HOST.name(), host);
  }

  @Option(names = "--port", paramLabel = "PORT", description = "Port to listen on: 5984; 0: any.")
  private void port(String port) {
    flags.put(Keys.PORT.name(), port);
  }

  @Option(names = "--data", paramLabel = "DIRECTORY", description = "Where data is kept: ./data.")
  private void data(String directory) {
    flags.put(Keys.DATA.name(), directory);
  }

  @Option(names = "--store", paramLabel = "STORE", description = "embedded or foundationdb.")
  private void store(String store) {
    flags.put(Keys.STORE.name(), store);
  }

  @Option(
      names = "--cluster-file",
      paramLabel = "FILE",
      description = "FoundationDB's cluster file, for --store foundationdb.")
  private void clusterFile(String clusterFile) {
    flags.put(Keys.CLUSTER_FILE.name(), clusterFile);
  }

  @Option(
      names = "--cluster",
      description = "Join the other servers of a cluster, on this machine unless configured.")
  private void cluster(boolean joined) {
    flags.put(Keys.CLUSTER.name(), Boolean.toString(joined));
  }

  @Option(
      names = "--cluster-config",
      paramLabel = "FILE",
      description = "Hazelcast's configuration for --cluster, in XML or YAML.")
  private void clusterConfig(String file) {
    flags.put(Keys.CLUSTER_CONFIG.name(), file);
  }

  @Option(
      names = "--allow-anonymous",
      description =
          "Let everybody who reaches the port do everything; any --host but loopback needs it.")
  private void allowAnonymous(boolean allowed) {
    flags.put(Keys.ALLOW_ANONYMOUS.name(), Boolean.toString(allowed));
  }

  @Option(
      names = "--cors-origin",
      paramLabel = "ORIGIN",
      split = ",",
      description = "Let web pages of this origin use the server; * for all. May be repeated.")
  private void corsOrigins(String[] origins) {
    flags.put(Keys.CORS_ORIGINS.name(), String.join(",", origins));
  }

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Sets any key of the configuration file. May be repeated.")
  private void set(Map<String, String> values) {
    flags.putAll(values);
  }

  @Override
  public Integer call() {
    Path chosen = file != null ? file : fileOfEnvironment();
    Configuration configuration = Configuration.of(chosen, environment, flags);
    return new Serving(configuration, console).run();
  }

  private Path fileOfEnvironment() {
    String named = environment.get(Configuration.FILE_VARIABLE);
    return named == null || named.isBlank() ? null : Path.of(named);
  }
}
