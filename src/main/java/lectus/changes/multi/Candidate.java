package lectus.changes.multi;

import lectus.database.DatabaseName;
import lectus.store.Versionstamp;

/**
 * A database that still has something to deliver: its changes, or its end.
 *
 * @param atLeast a lower bound of the point at which that lies
 */
record Candidate(DatabaseName name, Kind kind, Versionstamp atLeast) {

  /** How precisely the point is known. */
  enum Kind {
    /** Changes; the first lies somewhere after the point. */
    SOMEWHERE,
    /** Changes; the first was at the point when last examined, and is there or later now. */
    CHANGES,
    /** The database's end, at the point. */
    END
  }

  static Candidate somewhere(DatabaseName name, Versionstamp atLeast) {
    return new Candidate(name, Kind.SOMEWHERE, atLeast);
  }

  static Candidate end(DatabaseName name, Versionstamp at) {
    return new Candidate(name, Kind.END, at);
  }

  static Candidate changes(DatabaseName name, Versionstamp first) {
    return new Candidate(name, Kind.CHANGES, first);
  }
}
