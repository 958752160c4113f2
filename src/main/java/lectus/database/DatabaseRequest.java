package lectus.database;

import com.apple.foundationdb.ReadTransaction;
import lectus.error.LectusException;

/**
 * A database that somebody asks to read. Readers take it in place of a name, so that none of them
 * reads for a client whose right is gone.
 */
public record DatabaseRequest(DatabaseName name, DatabaseAccess permit) {

  public static DatabaseRequest byServer(DatabaseName name) {
    return new DatabaseRequest(name, DatabaseAccess.OF_SERVER);
  }

  /**
   * Returns the database as of the transaction's read version.
   *
   * @throws LectusException {@code not_found} (404); what the permit says
   */
  public DatabaseHandle current(ReadTransaction tx, Catalogue catalogue) {
    DatabaseHandle db = catalogue.current(tx, name);
    permit.judge(db);
    return db;
  }
}
