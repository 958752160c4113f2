package lectus.document.read;

import java.nio.charset.StandardCharsets;
import lectus.revision.EditBranch;

/** A part of an answer that lists revisions of documents. */
public sealed interface Piece {
  /** Bytes that are already known. */
  record Text(byte[] bytes) implements Piece {}

  static Piece text(String ascii) {
    return new Text(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /** The bytes around a document, left out together with it. */
  record Frame(byte[] before, byte[] behind) {
    public static Frame of(String before, String behind) {
      return new Frame(
          before.getBytes(StandardCharsets.US_ASCII), behind.getBytes(StandardCharsets.US_ASCII));
    }
  }

  /**
   * A leaf still to be read.
   *
   * @param ifGone replaces document and frame if the leaf was updated after its branch was read
   */
  record Leaf(String id, EditBranch branch, Frame frame, byte[] ifGone) implements Piece {}
}
