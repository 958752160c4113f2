package lectus.document.read;

import java.nio.charset.StandardCharsets;
import lectus.revision.EditBranch;

/** A part of an answer that lists revisions of documents. */
public sealed interface Piece {
  /** What is known already. */
  record Text(byte[] bytes) implements Piece {}

  static Piece text(String ascii) {
    return new Text(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /** What stands around a document, and is left out with it. */
  record Frame(byte[] before, byte[] behind) {
    public static Frame of(String before, String behind) {
      return new Frame(
          before.getBytes(StandardCharsets.US_ASCII), behind.getBytes(StandardCharsets.US_ASCII));
    }
  }

  /**
   * A leaf that is to be read.
   *
   * @param ifGone in place of document and frame when the leaf was updated since its branch was
   *     read
   */
  record Leaf(String id, EditBranch branch, Frame frame, byte[] ifGone) implements Piece {}
}
