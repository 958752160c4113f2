package lectus;

import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code lectus serve}: a flag for what is set often, {@code --set} for every other key. */
@Command(
    name = "serve",
    description = "Starts the server and runs it until it is told to stop.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "1:it could not start",
      "3:the store cannot go on in this process; started again it may",
      "143:it was told to end (SIGTERM), and ended in order"
    },
    versionProvider = Version.class)
final class ServeCommand implements Callable<Integer> {
  private final Map<String, String> environment;
  private final Console console;

  @Mixin private final ConfigurationFlags flags = new ConfigurationFlags();

  ServeCommand(Map<String, String> environment, Console console) {
    this.environment = environment;
    this.console = console;
  }

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description = "Address to listen on: 127.0.0.1.")
  private void host(String host) {
    flags.put(Keys.HOST, host);
  }

  @Option(names = "--port", paramLabel = "PORT", description = "Port to listen on: 5984; 0: any.")
  private void port(String port) {
    flags.put(Keys.PORT, port);
  }

  @Option(
      names = "--cluster",
      description = "Join the other servers of a cluster, on this machine unless configured.")
  private void cluster(boolean joined) {
    flags.put(Keys.CLUSTER, Boolean.toString(joined));
  }

  @Option(
      names = "--cluster-config",
      paramLabel = "FILE",
      description = "Hazelcast's configuration for --cluster, in XML or YAML.")
  private void clusterConfig(String file) {
    flags.put(Keys.CLUSTER_CONFIG, file);
  }

  @Option(
      names = "--allow-anonymous",
      description =
          "Let everybody who reaches the port do everything; any --host but loopback needs it.")
  private void allowAnonymous(boolean allowed) {
    flags.put(Keys.ALLOW_ANONYMOUS, Boolean.toString(allowed));
  }

  @Option(
      names = "--cors-origin",
      paramLabel = "ORIGIN",
      split = ",",
      description = "Let web pages of this origin use the server; * for all. May be repeated.")
  private void corsOrigins(String[] origins) {
    flags.put(Keys.CORS_ORIGINS, String.join(",", origins));
  }

  @Override
  public Integer call() {
    return new Serving(flags.over(environment), console).run();
  }
}
