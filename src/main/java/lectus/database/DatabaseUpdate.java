package lectus.database;

import java.util.Optional;
import lectus.store.Versionstamp;

/**
 * A row of the updates log: something happened to a database.
 *
 * @param at when it happened, in the store's commit order
 * @param joined when this life of the database began, known at least for rows of its creation or
 *     its end. If the ends of several lives under one name were merged into one row: when the first
 *     began
 * @param security of an end: the database's security object at that time, or what all of the merged
 *     lives together allowed; empty if it was never set
 */
public record DatabaseUpdate(
    Versionstamp at,
    Kind kind,
    InstanceId instance,
    DatabaseName name,
    Versionstamp joined,
    Optional<SecurityObject> security) {

  /** Of a creation or an update. */
  public DatabaseUpdate(
      Versionstamp at, Kind kind, InstanceId instance, DatabaseName name, Versionstamp joined) {
    this(at, kind, instance, name, joined, Optional.empty());
  }

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

  /**
   * Merges the end of this life and of an earlier one under the same name into one row at this
   * place.
   */
  public DatabaseUpdate alsoEnding(DatabaseUpdate earlier) {
    Optional<SecurityObject> either =
        security.map(it -> earlier.security.map(it::or).orElse(it)).or(earlier::security);
    return new DatabaseUpdate(at, kind, instance, name, earlier.joined(), either);
  }
}
