package lectus.http.exchange;

import java.util.HashMap;
import java.util.Map;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.error.LectusException;

/** Remembers names that were checked, for one event loop. */
public final class CheckedNames {
  private static final int MOST = 1_000;

  private final Map<String, DatabaseName> checked = new HashMap<>();

  /**
   * Returns the database that the first name of the path refers to.
   *
   * @throws LectusException {@code not_found}: no database can have this name
   */
  public DatabaseName of(Exchange exchange) {
    String text = exchange.segment(0);
    DatabaseName known = checked.get(text);
    return known != null ? known : check(text);
  }

  /**
   * Returns the database that the first name of the path refers to, to be read for whoever asks.
   *
   * @throws LectusException as {@link #of}
   */
  public DatabaseRequest asked(Exchange exchange) {
    return new DatabaseRequest(of(exchange), exchange.caller().permit());
  }

  private DatabaseName check(String text) {
    DatabaseName name = parse(text);
    if (checked.size() == MOST) {
      checked.clear();
    }
    checked.put(text, name);
    return name;
  }

  private static DatabaseName parse(String text) {
    try {
      return DatabaseName.of(text);
    } catch (LectusException illegal) {
      throw LectusException.notFound("Database does not exist.");
    }
  }
}
