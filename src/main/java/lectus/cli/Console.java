package lectus.cli;

import java.io.PrintWriter;

/** The output of the command line for people: results, and reasons for failures. */
public record Console(PrintWriter out, PrintWriter err) {
  void say(String sentence) {
    out.println(sentence);
    out.flush();
  }

  public void complain(String sentence) {
    err.println("lectus: " + sentence);
    err.flush();
  }
}
