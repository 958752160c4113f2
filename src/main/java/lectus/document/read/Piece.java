package lectus.document.read;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/** A part of an answer that lists revisions of documents. */
public sealed interface Piece {
  /** Bytes that are already known. */
  record Text(byte[] bytes) implements Piece {}

  static Piece text(String ascii) {
    return new Text(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /** The bytes around a document, left out together with it. */
  record Frame(byte[] before, byte[] behind, Optional<Related> related) {
    public static Frame of(String before, String behind) {
      return new Frame(
          before.getBytes(StandardCharsets.US_ASCII),
          behind.getBytes(StandardCharsets.US_ASCII),
          Optional.empty());
    }

    /** Returns the frame with another beginning for documents that attachments follow. */
    public Frame orRelated(Related other) {
      return new Frame(before, behind, Optional.of(other));
    }
  }

  /** What stands around a document that is followed by its attachments. */
  interface Related {
    /** Returns the boundary between the document and its attachments. */
    String boundary();

    /** Returns what comes before the first of these boundaries. */
    byte[] before(String id, RevisionId revision);
  }

  /**
   * A leaf still to be read.
   *
   * @param known revisions that the client has: attachments that one of them had are stubs; empty
   *     if all leaves of the answer are shown alike
   * @param ifGone replaces document and frame if the leaf was updated after its branch was read
   */
  record Leaf(String id, EditBranch branch, List<RevisionId> known, Frame frame, byte[] ifGone)
      implements Piece {
    public Leaf(String id, EditBranch branch, Frame frame, byte[] ifGone) {
      this(id, branch, List.of(), frame, ifGone);
    }
  }
}
