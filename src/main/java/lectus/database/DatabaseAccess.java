package lectus.database;

import lectus.error.LectusException;

/**
 * What lets somebody read a database. An answer may take many transactions and many minutes, so it
 * is judged in each of them. Thread-safe.
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
