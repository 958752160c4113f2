package lectus.document.write;

import lectus.error.LectusError;

/** Edits that may not be made in their database at all. */
record RefusedEdits(DocumentEdits edits, LectusError error) implements DocumentPlanner {
  @Override
  public void readOn() {
    // There is nothing to read.
  }

  @Override
  public PlannedDocument plan() {
    return PlannedDocument.failed(edits, error);
  }
}
