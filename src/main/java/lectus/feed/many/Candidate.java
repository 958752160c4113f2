package lectus.feed.many;

import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.store.Versionstamp;

/**
 * Something of one database that is still to be told: its changes, or its end.
 *
 * @param atLeast nothing of it comes before this point
 * @param batch changes that are read of it at once
 */
record Candidate(
    DatabaseName name, InstanceId instance, Kind kind, Versionstamp atLeast, int batch) {
  private static final int FIRST_BATCH = 4;
  private static final int LARGEST_BATCH = 256;

  /** How much is known of where it is. */
  enum Kind {
    /** Changes, the first of them somewhere behind the point. */
    SOMEWHERE,
    /** Changes, the first of them at the point when it was looked at: then, or later by now. */
    CHANGES,
    /** The database's end, at the point. */
    END
  }

  static Candidate somewhere(DatabaseName name, InstanceId instance, Versionstamp atLeast) {
    return new Candidate(name, instance, Kind.SOMEWHERE, atLeast, FIRST_BATCH);
  }

  static Candidate end(DatabaseName name, InstanceId instance, Versionstamp at) {
    return new Candidate(name, instance, Kind.END, at, 0);
  }

  /** Its first change is there. */
  Candidate firstAt(Versionstamp first) {
    return new Candidate(name, instance, Kind.CHANGES, first, FIRST_BATCH);
  }

  /** All that was read of it came before what others have, so more is read of it the next time. */
  Candidate goingOnBehind(Versionstamp last) {
    return new Candidate(
        name, instance, Kind.CHANGES, last.successor(), Math.min(LARGEST_BATCH, 2 * batch));
  }
}
