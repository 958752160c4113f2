package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.edit.Edit;
import lectus.error.LectusError;

/**
 * What the server itself forbids of edits: who may write which document, and what a user's document
 * has to be. It is asked in the transaction that writes the edit, so what it reads is still so when
 * the edit is stored.
 */
public interface EditRule {
  /** Everybody may write everything. */
  EditRule NONE = (tx, db, edit) -> Optional.empty();

  /**
   * Returns why the edit is not allowed.
   *
   * @param db as of the transaction's read version
   */
  Optional<LectusError> problem(ReadTransaction tx, DatabaseHandle db, Edit edit);
}
