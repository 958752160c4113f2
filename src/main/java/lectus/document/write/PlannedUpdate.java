package lectus.document.write;

import lectus.document.BodyRows;
import lectus.document.edit.LocalEdit;

/** The writes for one document, after all reads and checks. */
public sealed interface PlannedUpdate permits DocumentUpdate, PlannedUpdate.LocalUpdate {

  /** A local document to write or remove. */
  record LocalUpdate(LocalEdit edit, BodyRows rows) implements PlannedUpdate {}
}
