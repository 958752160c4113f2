package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.edit.Edit;
import lectus.error.LectusError;

/**
 * What decides, beside the stored revisions, whether an edit is stored.
 *
 * @param ignoresValidation whether to store edits without asking the {@code validate_doc_update} of
 *     design documents
 * @param judge asks functions
 */
public record WriteRules(boolean ignoresValidation, EditRule rule, Judge judge) {

  /** Of a server that knows no users, and calls no functions. */
  public static final WriteRules NONE = new WriteRules(false, EditRule.NONE, Judge.NONE);

  /**
   * What the server itself forbids of edits: who may write which document, and what a user's
   * document has to be. It is asked in the transaction that writes the edit, so what it reads is
   * still so when the edit is stored.
   */
  public interface EditRule {
    /** Everybody may write everything. */
    EditRule NONE =
        new EditRule() {
          @Override
          public Optional<LectusError> refusal(DatabaseHandle db, Edit edit) {
            return Optional.empty();
          }

          @Override
          public Optional<LectusError> problem(ReadTransaction tx, DatabaseHandle db, Edit edit) {
            return Optional.empty();
          }
        };

    /** Returns why its author may not write the document at all, whatever is stored. */
    Optional<LectusError> refusal(DatabaseHandle db, Edit edit);

    /**
     * Returns why the edit is not allowed, if it does not conflict.
     *
     * @param db as of the transaction's read version
     */
    Optional<LectusError> problem(ReadTransaction tx, DatabaseHandle db, Edit edit);
  }
}
