package lectus.document;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.Partition;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.Surrogates;

/** The rules for document ids, with CouchDB's error sentences. */
public final class DocumentId {
  /** Default limit on the length of an id, in bytes of UTF-8. */
  public static final int DEFAULT_MAX_BYTES = 512;

  public static final String DESIGN_PREFIX = "_design/";
  public static final String LOCAL_PREFIX = "_local/";

  private DocumentId() {}

  /**
   * @param maxBytes longest id, in bytes of UTF-8
   * @return {@code id}
   * @throws LectusException {@code illegal_docid}
   */
  public static String check(String id, int maxBytes) {
    if (id.isEmpty()) {
      throw illegal("Document id must not be empty");
    }
    if (id.equals(DESIGN_PREFIX) || id.equals(LOCAL_PREFIX)) {
      throw illegal("Illegal document id `" + id + "`");
    }
    if (isTooLong(id, maxBytes)) {
      throw illegal("Document id is too long");
    }
    if (Surrogates.firstUnpaired(id) >= 0) {
      throw illegal("Document id must be valid UTF-8");
    }
    if (id.charAt(0) == '_' && !isDesign(id) && !isLocal(id)) {
      throw illegal("Only reserved document ids may start with underscore.");
    }
    return id;
  }

  /**
   * Returns what is wrong with an id in this database; empty if the database is not partitioned.
   *
   * @param id an id that satisfies the rules of every database
   */
  public static Optional<LectusError> problem(DatabaseHandle db, String id) {
    if (!db.configuration().partitioned() || isDesign(id) || isLocal(id)) {
      return Optional.empty();
    }
    int colon = id.indexOf(':');
    if (colon < 0) {
      return Optional.of(
          new LectusError.BadRequest("illegal_docid", "Doc id must be of form partition:id"));
    }
    try {
      Partition.of(id.substring(0, colon));
      check(id.substring(colon + 1), Integer.MAX_VALUE);
      return Optional.empty();
    } catch (LectusException illegal) {
      return Optional.of(illegal.error());
    }
  }

  /**
   * @throws LectusException {@code illegal_docid} or {@code illegal_partition}, as {@link #problem}
   */
  public static void checkIn(DatabaseHandle db, String id) {
    problem(db, id)
        .ifPresent(
            problem -> {
              throw new LectusException(problem);
            });
  }

  public static boolean isDesign(String id) {
    return id.startsWith(DESIGN_PREFIX);
  }

  public static boolean isLocal(String id) {
    return id.startsWith(LOCAL_PREFIX);
  }

  private static boolean isTooLong(String id, int maxBytes) {
    int mostBytesPerChar = 3;
    return id.length() * mostBytesPerChar > maxBytes
        && id.getBytes(StandardCharsets.UTF_8).length > maxBytes;
  }

  private static LectusException illegal(String reason) {
    return LectusException.badRequest("illegal_docid", reason);
  }
}
