package lectus.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.URI;
import java.util.concurrent.Callable;
import lectus.sample.DocumentLoader;
import lectus.sample.UnicodeCharacters;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lectus sample}: loads a database worth looking at. */
@Command(
    name = "sample",
    description = "Loads the Unicode character database, some 140 000 documents, into a server.",
    mixinStandardHelpOptions = true)
public final class SampleCommand implements Callable<Integer> {
  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:5984/unicode",
      description = {"The database, created if it is missing. Default:", "${DEFAULT-VALUE}"})
  private URI url;

  @Spec private CommandSpec spec;

  private final boolean isTerminal;

  /**
   * @param isTerminal whether to show progress
   */
  public SampleCommand(boolean isTerminal) {
    this.isTerminal = isTerminal;
  }

  @Override
  public Integer call() {
    requireDatabase();
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      int count =
          new DocumentLoader(url, sent -> progress(out, sent))
              .load(UnicodeCharacters.all(), (batch, c) -> UnicodeCharacters.write(c, batch));
      out.println("Loaded " + count + " documents into " + url);
      return 0;
    } catch (ConnectException e) {
      err.println("lectus: No server answers at " + url + ".");
    } catch (IOException e) {
      err.println("lectus: The documents could not be loaded: " + e.getMessage() + ".");
    }
    return 1;
  }

  private void requireDatabase() {
    boolean isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    boolean hasPath = url.getPath() != null && url.getPath().matches("/.*[^/]");
    if (!isHttp || url.getHost() == null || !hasPath || url.getQuery() != null) {
      throw new ParameterException(
          spec.commandLine(),
          "--url has to name a database, such as http://127.0.0.1:5984/unicode");
    }
  }

  /** The line ends in a carriage return, so the next one replaces it. */
  private void progress(PrintWriter out, int sent) {
    if (isTerminal) {
      out.print(sent + " documents\r");
      out.flush();
    }
  }
}
