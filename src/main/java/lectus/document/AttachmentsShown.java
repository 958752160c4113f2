package lectus.document;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.attachment.Attachment;
import lectus.attachment.ContentId;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/**
 * How documents show their attachments.
 *
 * @param encodings whether to show how the bytes are stored
 * @param since revisions that the client has: what one of them had already is shown as a stub
 * @param held contents that the client has: in place of their bytes it is shown a stub that names
 *     them
 */
public record AttachmentsShown(
    Bytes bytes, boolean encodings, Optional<List<RevisionId>> since, Set<ContentId> held) {
  /** Without their bytes. */
  public static final AttachmentsShown STUBS = of(false, false);

  /** Without their bytes, and with what it takes to store them where their contents are. */
  public static final AttachmentsShown NAMED =
      new AttachmentsShown(Bytes.NAMED, true, Optional.empty(), Set.of());

  /** Where the bytes are. */
  public enum Bytes {
    NONE,
    /** Not there: the digest of a stub is the SHA-256 by which a database knows the content. */
    NAMED,
    /** In the document, as base64. */
    INLINE,
    /** Behind the document, as they are stored. */
    FOLLOWING
  }

  /**
   * @param bytes whether to show them, as base64
   */
  public static AttachmentsShown of(boolean bytes, boolean encodings) {
    return new AttachmentsShown(
        bytes ? Bytes.INLINE : Bytes.NONE, encodings, Optional.empty(), Set.of());
  }

  public AttachmentsShown following() {
    return new AttachmentsShown(Bytes.FOLLOWING, true, since, held);
  }

  /** Returns the same with the bytes of what none of these revisions had. */
  public AttachmentsShown since(List<RevisionId> known) {
    Bytes shown = bytes == Bytes.NONE ? Bytes.INLINE : bytes;
    return new AttachmentsShown(shown, encodings, Optional.of(known), held);
  }

  /** Returns the same without the bytes of these contents. */
  public AttachmentsShown holding(Set<ContentId> contents) {
    return new AttachmentsShown(bytes, encodings, since, contents);
  }

  public boolean showsBytes() {
    return bytes != Bytes.NONE && bytes != Bytes.NAMED;
  }

  /** Whether the bytes of one attachment are shown. */
  boolean showsBytesOf(Attachment attachment, long knownPosition) {
    return showsBytes() && (since.isEmpty() || attachment.position() > knownPosition);
  }

  /** Returns the position of the last revision of a branch that the client has; 0 if none. */
  long knownPosition(EditBranch branch) {
    return since.orElse(List.of()).stream()
        .filter(branch::contains)
        .mapToLong(RevisionId::position)
        .max()
        .orElse(0);
  }
}
