package lectus.document.read;

import java.nio.charset.StandardCharsets;
import lectus.revision.EditBranch;

/** A part of an answer that lists revisions of documents. */
public sealed interface Piece {
  /** JSON that is known. */
  record Text(byte[] json) implements Piece {}

  static Text text(String ascii) {
    return new Text(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * A leaf that is to be read: {@code {"ok":{…}}}.
   *
   * @param ifGone JSON in its place when it was updated since its branch was read
   */
  record Leaf(String id, EditBranch branch, byte[] ifGone) implements Piece {}
}
