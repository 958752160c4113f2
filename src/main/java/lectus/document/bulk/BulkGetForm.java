package lectus.document.bulk;

import java.util.List;
import lectus.document.read.Piece;

/** How the answer to {@code _bulk_get} is written down. */
public interface BulkGetForm {
  /** What the answer begins with, ASCII. */
  String head();

  /** Adds what an element of {@code docs} brings. */
  void add(BulkGetResult result, boolean first, List<Piece> pieces);

  /**
   * What the answer ends with, ASCII.
   *
   * @param empty nothing was asked for
   */
  String end(boolean empty);
}
