package lectus.document.write;

import lectus.document.edit.LocalEdit;

/** A local document to be written, or removed: nothing but itself. */
record LocalUpdate(LocalEdit edit) implements PlannedUpdate {}
