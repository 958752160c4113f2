package lectus.database;

/** What somebody may do with one database, the least first. */
public enum DatabaseRight {
  NONE,
  /** May read, and write documents that are no design documents. */
  MEMBER,
  /** May also write design documents and change the database's settings. */
  ADMIN;

  public boolean includes(DatabaseRight other) {
    return compareTo(other) >= 0;
  }
}
