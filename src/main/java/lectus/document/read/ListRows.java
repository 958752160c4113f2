package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import lectus.database.DatabaseHandle;

/** The remaining rows of a list. Immutable: appending returns the rows that then remain. */
interface ListRows {
  boolean isFinished();

  /** Appends as many of the next rows as the writer's part takes. */
  ListRows append(ReadTransaction tx, DatabaseHandle db, ListRowWriter writer);
}
