package lectus.document.body;

import java.util.List;
import lectus.attachment.AttachmentList;
import lectus.json.JsonAssembler;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TuplePrefixes;

/** Writes a body's members from its rows, which come in the order of their keys. */
public final class BodyReading {
  /** All leaves of a body. */
  static final List<byte[]> ALL = List.of(new byte[0]);

  private final JsonAssembler members;
  private final List<byte[]> chosen;
  private RevisionMetadata metadata = RevisionMetadata.NONE;

  public BodyReading(JsonAssembler members) {
    this(members, ALL);
  }

  /**
   * @param chosen the paths at and below which leaves are written. Of the leaves with rows of their
   *     own no others may be passed in
   */
  BodyReading(JsonAssembler members, List<byte[]> chosen) {
    this.members = members;
    this.chosen = chosen;
  }

  /**
   * @param pathOffset offset in the key at which the leaf's path begins; the key's length for the
   *     metadata
   * @throws MalformedTupleException if the row is none of a body, or cannot follow the ones before
   */
  public void take(byte[] key, int pathOffset, byte[] value) {
    if (key.length > pathOffset) {
      if (metadata.isInline()) {
        throw new MalformedTupleException("A body has its leaves in one row and others below it");
      }
      members.leaf(key, pathOffset, value);
      return;
    }
    metadata = RevisionMetadata.of(value);
    metadata.forEachLeaf(
        (packed, path, pathEnd, at, end) -> {
          if (isChosen(packed, path, pathEnd)) {
            members.leaf(packed, path, pathEnd, at, end);
          }
        });
  }

  private boolean isChosen(byte[] packed, int path, int pathEnd) {
    return chosen == ALL
        || chosen.stream().anyMatch(it -> TuplePrefixes.isAtOrBelow(it, packed, path, pathEnd));
  }

  /**
   * Ends the body.
   *
   * @throws MalformedTupleException if a leaf lacks some of its rows
   */
  public void finish() {
    members.finish();
  }

  /** Returns the metadata, once they were taken. */
  public RevisionMetadata metadata() {
    return metadata;
  }

  /** Returns the attachments, once the metadata were taken. */
  public AttachmentList attachments() {
    return metadata.attachments();
  }
}
