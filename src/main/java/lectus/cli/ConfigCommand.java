package lectus.cli;

import java.util.concurrent.Callable;
import lectus.config.DefaultFile;
import picocli.CommandLine.Command;

/** {@code lectus config}: a file to begin with, and the place to look a key up. */
@Command(
    name = "config",
    description = "Prints a configuration file: every key with its meaning and its default.",
    mixinStandardHelpOptions = true)
public final class ConfigCommand implements Callable<Integer> {
  private final Console console;

  public ConfigCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    console.out().print(DefaultFile.text());
    console.out().flush();
    return 0;
  }
}
