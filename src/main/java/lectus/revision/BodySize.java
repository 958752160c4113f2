package lectus.revision;

/**
 * The size of a leaf's body. It is stored with the leaf's revision, so that an edit that replaces
 * the leaf keeps the database's sizes exact without another read.
 *
 * @param external size of the body as JSON and of its attachments, in bytes
 * @param stored size of the keys and values that hold the body, in bytes; 0 if it has none, like a
 *     plain tombstone
 * @param attachments how many it has
 */
public record BodySize(long external, long stored, int attachments) {
  public static final BodySize NONE = new BodySize(0, 0);

  /** The size of a body without attachments. */
  public BodySize(long external, long stored) {
    this(external, stored, 0);
  }

  /** Whether the documents subspace holds anything for the body. */
  public boolean isStored() {
    return stored > 0;
  }

  public boolean hasAttachments() {
    return attachments > 0;
  }
}
