package lectus.cli;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import lectus.config.ClusterKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.CorsKeys;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.TlsKeys;
import lectus.config.Version;
import lectus.metrics.LogFormat;
import picocli.CommandLine;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * {@code lectus serve}: flags for the keys that are set often, {@code --set} for every other key.
 * Described without annotations, which take time to read when a server starts.
 */
public final class ServeCommand implements Callable<Integer> {
  /** The exit status if another try would be refused, too; systemd names it CONFIG. */
  public static final int REFUSED = 78;

  private static final Map<String, String> EXIT_STATUS =
      new TreeMap<>(
          Map.of(
              "1",
              "it could not start; another try may help",
              "3",
              "the store cannot go on in this process; started again it may",
              "78",
              "it was refused: the configuration, an admin that is missing, a damaged store",
              "143",
              "it was told to end (SIGTERM), and ended in order"));

  private final Map<String, String> environment;
  private final Console console;

  private final ConfigurationFlags flags;

  public ServeCommand(Map<String, String> environment, Console console) {
    this.environment = environment;
    this.flags = new ConfigurationFlags(environment);
    this.console = console;
    speak(console, environment);
  }

  /** Before the configuration has been read, the environment alone may say what lines are like. */
  public static void speak(Console console, Map<String, String> environment) {
    console.speak(LogFormat.named(environment.getOrDefault("LECTUS_LOG_FORMAT", "")));
  }

  public CommandLine commandLine() {
    CommandSpec spec = CommandSpec.wrapWithoutInspection(this).name("serve");
    spec.usageMessage()
        .description("Starts the server and runs it until it is told to stop.")
        .exitCodeListHeading("%nExit status:%n")
        .exitCodeList(EXIT_STATUS);
    spec.versionProvider(new VersionLine());
    spec.addOption(
        OptionSpec.builder("-h", "--help")
            .usageHelp(true)
            .description("Show this help message and exit.")
            .build());
    spec.addOption(
        OptionSpec.builder("-V", "--version")
            .versionHelp(true)
            .description("Print version information and exit.")
            .build());
    flags.addStore(spec);
    flags.add(spec, "--host", "ADDRESS", ListenKeys.HOST);
    flags.add(spec, "--port", "PORT", ListenKeys.PORT);
    flags.addSwitch(spec, "--allow-anonymous", ListenKeys.ALLOW_ANONYMOUS);
    flags.add(spec, "--tls-cert", "FILE", TlsKeys.CERTIFICATE);
    flags.add(spec, "--tls-key", "FILE", TlsKeys.KEY);
    flags.addSwitch(spec, "--cluster", ClusterKeys.CLUSTER);
    flags.add(spec, "--cluster-config", "FILE", ClusterKeys.CLUSTER_CONFIG);
    flags.addWords(spec, "--cors-origin", "ORIGIN", CorsKeys.CORS_ORIGINS);
    flags.add(spec, "--utils", "DIRECTORY", HttpKeys.UTILS);
    return new CommandLine(spec);
  }

  /**
   * Returns what the command line that was parsed last, its file and the environment set.
   *
   * @throws ConfigurationException an unknown key, or a value that its key does not allow
   */
  public Configuration configuration() {
    return flags.configuration();
  }

  @Override
  public Integer call() {
    return new Serving(configuration(), environment, console).run();
  }

  /** The answer to {@code --version}. */
  public static final class VersionLine implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"Lectus " + Version.text()};
    }
  }
}
