package lectus.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import picocli.CommandLine;

/** What a command has that opens a store and serves nobody: the flags that say which store. */
final class StoreFlags {
  private final Map<String, String> environment;

  private final ConfigurationFlags flags = new ConfigurationFlags();

  StoreFlags(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * Returns a command line with these flags.
   *
   * @param command has them as a mixin
   */
  CommandLine of(Callable<Integer> command) {
    CommandLine line = new CommandLine(command);
    flags.addStore(line.getCommandSpec());
    return line;
  }

  /**
   * @throws ConfigurationException an unknown key, or a value that its key does not allow
   */
  Configuration configuration() {
    return flags.over(environment);
  }
}
