package lectus.document.alldocs;

import com.apple.foundationdb.ReadTransaction;
import lectus.database.DatabaseHandle;

/** The rows of a list from some place on. A value: appending gives the place where to go on. */
interface ListRows {
  boolean isFinished();

  /** Appends the next rows, as many as the writer's part takes. */
  ListRows append(ReadTransaction tx, DatabaseHandle db, ListRowWriter writer);
}
