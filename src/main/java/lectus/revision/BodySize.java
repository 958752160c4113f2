package lectus.revision;

/**
 * How large the body of a leaf is. Kept beside the leaf's revision, so that an edit that replaces
 * the leaf keeps the database's sizes exact without another read.
 *
 * @param external bytes of the body as JSON
 * @param stored bytes of the keys and values that hold the body; 0 if it has none, as a plain
 *     tombstone
 */
public record BodySize(long external, long stored) {
  public static final BodySize NONE = new BodySize(0, 0);

  /** Whether anything lies in the documents subspace. */
  public boolean isStored() {
    return stored > 0;
  }
}
