package lectus.feed.many;

import lectus.database.DatabaseName;
import lectus.store.Versionstamp;

/**
 * Something of one database that is still to be told: its changes, or its end.
 *
 * @param atLeast nothing of it comes before this point
 */
record Candidate(DatabaseName name, Kind kind, Versionstamp atLeast) {

  /** How much is known of where it is. */
  enum Kind {
    /** Changes, the first of them somewhere behind the point. */
    SOMEWHERE,
    /** Changes, the first of them at the point when it was looked at: then, or later by now. */
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
