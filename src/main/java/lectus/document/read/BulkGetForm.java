package lectus.document.read;

import java.util.List;

/** The format of an answer to {@code _bulk_get}. */
public interface BulkGetForm {
  /** Returns the beginning of the answer, ASCII. */
  String head();

  /** Adds the result of one element of {@code docs}. */
  void add(BulkGetResult result, boolean first, List<Piece> pieces);

  /**
   * Returns the end of the answer, ASCII.
   *
   * @param empty whether nothing was requested
   */
  String end(boolean empty);
}
