package lectus;

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
import picocli.CommandLine.Spec;

/** {@code lectus sample}: gives a newcomer a database worth looking at. */
@Command(
    name = "sample",
    description = "Loads the Unicode character database, some 140 000 documents, into a server.",
    mixinStandardHelpOptions = true)
final class SampleCommand implements Callable<Integer> {
  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:5984/unicode",
      description = "The database, created where it is missing (default: ${DEFAULT-VALUE}).")
  private URI url;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      int count =
          new DocumentLoader(url)
              .load(UnicodeCharacters.all(), (batch, c) -> UnicodeCharacters.write(c, batch));
      out.println("Loaded " + count + " documents into " + url);
      return 0;
    } catch (ConnectException e) {
      err.println("No server answers at " + url + ".");
    } catch (IOException e) {
      err.println("The documents could not be loaded: " + e.getMessage() + ".");
    }
    return 1;
  }
}
