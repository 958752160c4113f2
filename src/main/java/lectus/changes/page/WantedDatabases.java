package lectus.changes.page;

import java.util.Set;
import java.util.function.Predicate;
import lectus.database.DatabaseName;

/**
 * The databases that a listener to the whole store wants to hear of. It is structured so that
 * listeners can be found by a database's name, however many there are.
 *
 * @param names databases wanted by name
 * @param heads prefixes of the names of all other wanted databases
 * @param others decides which databases with such a prefix are wanted
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
