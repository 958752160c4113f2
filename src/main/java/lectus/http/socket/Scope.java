package lectus.http.socket;

import lectus.database.DatabaseName;
import lectus.feed.page.Since;
import lectus.feed.updates.StoreSince;

/** What a subscription is about, and where in its order it begins. */
public sealed interface Scope {

  /** What the names of the databases take in memory, roughly, in bytes. */
  long memory();

  /**
   * {@code "db":"x"}.
   *
   * @param since as {@code _changes} takes it
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
   * @param since as {@code _db_updates} takes it
   */
  record ManyDatabases(WrittenDatabases databases, StoreSince since) implements Scope {
    @Override
    public long memory() {
      return databases.memory();
    }
  }
}
