package lectus.database;

import lectus.store.Versionstamp;

/**
 * A row of the updates log: something happened to a database.
 *
 * @param at when, in the order of all commits of the store
 * @param joined when this life of the database began, at least where the row is of its creation or
 *     its end; where ends of several lives under one name were made one row, when the first began
 */
public record DatabaseUpdate(
    Versionstamp at, Kind kind, InstanceId instance, DatabaseName name, Versionstamp joined) {

  /** What happened. The numbers are stored. */
  public enum Kind {
    CREATED(0),
    UPDATED(1),
    DELETED(2);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  /** The end of this life and of an earlier one under the same name, as one row in this place. */
  public DatabaseUpdate alsoEnding(DatabaseUpdate earlier) {
    return new DatabaseUpdate(at, kind, instance, name, earlier.joined());
  }
}
