package lectus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.cli.BackupCommand;
import lectus.cli.Console;
import lectus.cli.ServeCommand;
import lectus.config.Configuration;
import lectus.config.ConfigurationKey;
import lectus.config.ListenKeys;
import lectus.config.Settings;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** What the arguments and the environment of a deployed server mean. */
final class Served {
  private final Configuration configuration;

  private Served(Configuration configuration) {
    this.configuration = configuration;
  }

  /**
   * @param command begins with {@code serve}
   * @throws RuntimeException a flag, key or variable that Lectus does not have, or a value that one
   *     does not take
   */
  static Served by(List<String> command, Map<String, String> environment) {
    if (!command.get(0).equals("serve")) {
      throw new AssertionError("No server is started by " + command);
    }
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    ServeCommand serve = new ServeCommand(environment, new Console(nowhere, nowhere));
    serve.commandLine().parseArgs(command.subList(1, command.size()).toArray(String[]::new));
    return new Served(serve.configuration());
  }

  /**
   * Returns the flags of a command that makes backups.
   *
   * @param command begins with {@code backup}
   */
  static ParseResult backup(List<String> command) {
    assertThat(command.get(0)).isEqualTo("backup");
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    return new CommandLine(
            new BackupCommand(Map.of(), new Console(nowhere, nowhere), name -> Optional.empty()))
        .parseArgs(command.subList(1, command.size()).toArray(String[]::new));
  }

  <T> T get(ConfigurationKey<T> key) {
    return configuration.get(key);
  }

  /** Returns whether it refuses to start as long as there is no admin. */
  boolean needsAnAdmin() {
    return !get(ListenKeys.HOST).startsWith("127.") && !get(ListenKeys.ALLOW_ANONYMOUS);
  }

  /** Makes all settings of a server, as a start does. */
  void assertUsable() {
    Settings.of(configuration).node();
  }
}
