package lectus.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import lectus.metrics.LogFormat;
import lectus.metrics.LogLines;
import lectus.store.embedded.engine.folder.DataFolder;
import org.slf4j.event.Level;

/** The output of the command line for people: results, and reasons for failures. */
public final class Console {
  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean isTerminal;
  private volatile LogFormat form = LogFormat.TEXT;

  public Console(PrintWriter out, PrintWriter err) {
    this(out, err, false);
  }

  /**
   * @param isTerminal whether a person reads it as it is written
   */
  public Console(PrintWriter out, PrintWriter err, boolean isTerminal) {
    this.out = out;
    this.err = err;
    this.isTerminal = isTerminal;
  }

  public boolean isTerminal() {
    return isTerminal;
  }

  public PrintWriter out() {
    return out;
  }

  public PrintWriter err() {
    return err;
  }

  /** From now on each sentence has the form of the log's lines, between which it stands. */
  void speak(LogFormat wanted) {
    form = wanted;
  }

  void say(String sentence) {
    print(out, form == LogFormat.JSON ? LogLines.json(Level.INFO, "Lectus", sentence) : sentence);
  }

  public void complain(String sentence) {
    print(
        err,
        form == LogFormat.JSON
            ? LogLines.json(Level.ERROR, "Lectus", sentence)
            : "lectus: " + sentence);
  }

  /**
   * Complains of a failure, whose message is a sentence without its full stop, or of a file.
   *
   * @param what failed, or of what it is
   */
  void complain(Object what, IOException failure) {
    String file = failure instanceof FileSystemException of ? of.getFile() + ": " : "";
    complain(what + ": " + file + DataFolder.reason(failure) + ".");
  }

  private static void print(PrintWriter to, String line) {
    to.println(line);
    to.flush();
  }
}
