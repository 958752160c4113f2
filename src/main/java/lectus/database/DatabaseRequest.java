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

  /**
   * What lets somebody read a database. An answer may take many transactions and many minutes, so
   * it is judged in each of them. Thread-safe.
   */
  @FunctionalInterface
  public interface DatabaseAccess {
    /** The server's own, to read what it needs. */
    DatabaseAccess OF_SERVER = db -> {};

    /**
     * Judges by the database as of the transaction that reads it. Never waits.
     *
     * @throws LectusException the user may not read it, or not any more
     */
    void judge(DatabaseHandle db);

    /**
     * Checks that the user's account is still the same, for answers that go on after their first
     * transaction. May wait for the store.
     *
     * @throws LectusException {@code unauthorized}
     */
    default void checkAdmission() {}
  }
}
