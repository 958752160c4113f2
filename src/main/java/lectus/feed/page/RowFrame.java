package lectus.feed.page;

import lectus.database.Sequence;

/** What is done around each row while a page is written. */
public interface RowFrame {

  /**
   * @param row 0 for the first of the page
   */
  void before(int row);

  void after(Sequence row);
}
