package lectus.abuse.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Revisions and sequences seen in answers, for later requests. */
final class Seen {
  private static final int MOST = 64;
  private static final Pattern REVISION = Pattern.compile("\"(\\d{1,6}-[0-9a-f]{32})\"");
  private static final Pattern SEQUENCE =
      Pattern.compile("\"(?:seq|last_seq|update_seq|at)\":\"([^\"\\\\]{1,80})\"");

  private final List<String> revisions = new ArrayList<>(List.of("1-" + "a".repeat(32)));
  private final List<String> sequences = new ArrayList<>(List.of("0"));
  private int turn;

  /** Notes the first few of a text. */
  void note(String text) {
    String begin = text.length() > 2_000 ? text.substring(0, 2_000) : text;
    note(REVISION.matcher(begin), revisions);
    note(SEQUENCE.matcher(begin), sequences);
  }

  private void note(Matcher found, List<String> into) {
    for (int i = 0; i < 3 && found.find(); i++) {
      if (into.size() < MOST) {
        into.add(found.group(1));
      } else {
        into.set(turn++ % MOST, found.group(1));
      }
    }
  }

  String revision(Dice dice) {
    return dice.of(revisions);
  }

  String sequence(Dice dice) {
    return dice.of(sequences);
  }
}
