package lectus.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.config.ConfigurationException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code lectus sample}: loads a database worth looking at. */
@Command(
    name = "sample",
    description = "Loads the Unicode character database, some 140 000 documents, into a server.",
    mixinStandardHelpOptions = true)
public final class SampleCommand implements Callable<Integer> {
  /** How many documents lie between two lines of progress where there is no terminal. */
  private static final int BETWEEN_LINES = 20_000;

  @Option(
      names = "--url",
      paramLabel = "URL",
      converter = ServerUrl.Parsing.class,
      defaultValue = "http://127.0.0.1:5984/unicode",
      description = {
        "The database, created if it is missing. Default:",
        "${DEFAULT-VALUE}",
        "With http://NAME@… the password is asked for; http://NAME:PASSWORD@… has it."
      })
  private URI url;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificates to trust, in PEM, in place of the JDK's.")
  private Path authorities;

  @Spec private CommandSpec spec;

  private final boolean isTerminal;
  private final PasswordPrompt prompt;

  /**
   * @param isTerminal whether progress is one line that changes
   * @param prompt asks for a password that the URL lacks
   */
  public SampleCommand(boolean isTerminal, PasswordPrompt prompt) {
    this.isTerminal = isTerminal;
    this.prompt = prompt;
  }

  @Override
  public Integer call() {
    ServerUrl database = database();
    PrintWriter out = spec.commandLine().getOut();
    try {
      DocumentLoader.Loaded loaded =
          new DocumentLoader(database, this::progress)
              .load(UnicodeCharacters.all(), (batch, c) -> UnicodeCharacters.write(c, batch));
      String before = loaded.existing() == 0 ? "" : ", " + loaded.existing() + " of them before";
      out.println("Loaded " + loaded.documents() + " documents into " + database + before);
      return 0;
    } catch (IOException e) {
      spec.commandLine()
          .getErr()
          .println("lectus: The documents could not be loaded: " + e.getMessage() + ".");
      return 1;
    }
  }

  private ServerUrl database() {
    ServerUrl named = ServerUrl.of(url, Optional.ofNullable(authorities), prompt);
    if (!named.hasPath()) {
      throw new ConfigurationException(
          "--url has to name a database, such as http://127.0.0.1:5984/unicode");
    }
    return named;
  }

  /** At a terminal the line ends in a carriage return, so the next one replaces it. */
  private void progress(int sent) {
    if (isTerminal) {
      spec.commandLine().getOut().print(sent + " documents\r");
      spec.commandLine().getOut().flush();
    } else if (sent % BETWEEN_LINES == 0) {
      spec.commandLine().getErr().println(sent + " documents so far");
      spec.commandLine().getErr().flush();
    }
  }
}
