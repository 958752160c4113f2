package lectus.abuse;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Lines of a server's log that no client should be able to provoke. */
public final class ServerLog {
  private static final Pattern COMPLAINT =
      Pattern.compile(" ERROR |OutOfMemoryError|StackOverflowError|^Exception|^Caused by:|SIGSEGV");

  private static final Pattern CONTROL = Pattern.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f]");
  private static final String OF_A_TRACE = "\tat ";

  private ServerLog() {}

  /**
   * Returns defects, the heads of stack traces, and lines with characters that would control a
   * terminal.
   *
   * @param lines of both output streams
   */
  public static List<String> complaints(List<String> lines) {
    List<String> complaints = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      boolean headOfTrace =
          !lines.get(i).startsWith(OF_A_TRACE)
              && i + 1 < lines.size()
              && lines.get(i + 1).startsWith(OF_A_TRACE);
      if (headOfTrace
          || COMPLAINT.matcher(lines.get(i)).find()
          || CONTROL.matcher(lines.get(i)).find()) {
        complaints.add(lines.get(i));
      }
    }
    return complaints;
  }
}
