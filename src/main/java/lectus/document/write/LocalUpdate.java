package lectus.document.write;

import lectus.document.edit.LocalEdit;

/** A local document to write or remove. */
record LocalUpdate(LocalEdit edit) implements PlannedUpdate {}
