package lectus.feed;

import java.util.Set;
import java.util.function.Predicate;
import lectus.database.DatabaseName;

/**
 * The databases that a listener to the whole store wants to hear of, told so that listeners can be
 * found by the name of a database, however many there are.
 *
 * @param names those that are wanted by name
 * @param heads what the names of all others begin with
 * @param others which of those that begin so are wanted
 */
public record WantedDatabases(
    Set<DatabaseName> names, Set<String> heads, Predicate<DatabaseName> others) {
  public static final WantedDatabases ALL =
      new WantedDatabases(Set.of(), Set.of(""), every -> true);

  public WantedDatabases {
    names = Set.copyOf(names);
    heads = Set.copyOf(heads);
  }
}
