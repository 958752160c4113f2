package lectus.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Names that were probably meant. */
public final class NearName {
  private static final int MIN_CHANGES = 2;

  /** A third of its characters may be wrong. */
  private static final int CHARACTERS_OF_A_CHANGE = 3;

  private NearName() {}

  /** Returns the known name that takes the fewest changed characters, if they are few. */
  public static Optional<String> of(String given, Collection<String> known) {
    int most = Math.max(MIN_CHANGES, given.length() / CHARACTERS_OF_A_CHANGE);
    return known.stream()
        .filter(name -> changes(given, name) <= most)
        .min(Comparator.comparingInt(name -> changes(given, name)));
  }

  /** Returns how many characters have to be replaced, inserted or left out. */
  private static int changes(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int before = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = before + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        before = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[to.length()];
  }
}
