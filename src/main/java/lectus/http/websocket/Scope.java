package lectus.http.websocket;

import lectus.changes.multi.StorePosition.StoreSince;
import lectus.changes.page.Since;
import lectus.database.DatabaseName;

/** The databases of a subscription, and the position at which it begins. */
public sealed interface Scope {

  /** Returns the approximate memory, in bytes, of the databases' names. */
  long memory();

  /**
   * {@code "db":"x"}.
   *
   * @param since as in {@code _changes}
   */
  record OneDatabase(DatabaseName name, Since since) implements Scope {
    @Override
    public long memory() {
      return 0;
    }
  }

  /**
   * {@code "db":"user-*"} or {@code "db":["x","user-*"]}.
   *
   * @param since as in {@code _db_updates}
   */
  record ManyDatabases(WrittenDatabases databases, StoreSince since) implements Scope {
    @Override
    public long memory() {
      return databases.memory();
    }
  }
}
