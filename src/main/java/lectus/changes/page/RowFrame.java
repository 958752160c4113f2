package lectus.changes.page;

import lectus.database.Sequence;

/** Called before and after each row of a page. */
public interface RowFrame {

  /**
   * @param row 0 for the first of the page
   */
  void before(int row);

  void after(Sequence row);
}
