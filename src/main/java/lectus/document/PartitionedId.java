package lectus.document;

import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.Partition;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** The rules for ids in partitioned databases, with CouchDB's error sentences. */
public final class PartitionedId {
  private PartitionedId() {}

  /**
   * Returns what is wrong with an id in this database; empty if the database is not partitioned.
   *
   * @param id an id that satisfies the rules of every database
   */
  public static Optional<LectusError> problem(DatabaseHandle db, String id) {
    return db.configuration().partitioned() ? problem(id) : Optional.empty();
  }

  /**
   * @throws LectusException {@code illegal_docid} or {@code illegal_partition}
   */
  public static void check(DatabaseHandle db, String id) {
    problem(db, id)
        .ifPresent(
            problem -> {
              throw new LectusException(problem);
            });
  }

  private static Optional<LectusError> problem(String id) {
    if (DocumentId.isDesign(id) || DocumentId.isLocal(id)) {
      return Optional.empty();
    }
    int colon = id.indexOf(':');
    if (colon < 0) {
      return Optional.of(
          new LectusError.BadRequest("illegal_docid", "Doc id must be of form partition:id"));
    }
    try {
      Partition.of(id.substring(0, colon));
      DocumentId.check(id.substring(colon + 1), Integer.MAX_VALUE);
      return Optional.empty();
    } catch (LectusException illegal) {
      return Optional.of(illegal.error());
    }
  }
}
