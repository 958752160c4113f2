package lectus.document.write;

import lectus.error.LectusError;

/** Edits that their database never allows. */
record ForbiddenEdits(EditGroup edits, LectusError error) implements DocumentPlanner {
  @Override
  public boolean readOn() {
    // There is nothing to read.
    return false;
  }

  @Override
  public PlannedDocument plan() {
    return PlannedDocument.failed(edits, error);
  }
}
