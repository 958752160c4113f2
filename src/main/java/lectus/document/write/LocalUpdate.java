package lectus.document.write;

import lectus.document.BodyRows;
import lectus.document.edit.LocalEdit;

/** A local document to write or remove. */
record LocalUpdate(LocalEdit edit, BodyRows rows) implements PlannedUpdate {}
