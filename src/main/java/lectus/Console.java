package lectus;

import java.io.PrintWriter;

/** Where the command line speaks to people: what happened, and why it did not. */
record Console(PrintWriter out, PrintWriter err) {
  void say(String sentence) {
    out.println(sentence);
    out.flush();
  }

  void complain(String sentence) {
    err.println("lectus: " + sentence);
    err.flush();
  }
}
