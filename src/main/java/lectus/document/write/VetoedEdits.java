package lectus.document.write;

import lectus.error.LectusError;

/**
 * Edits that validation refuses. Any other fault is reported instead: CouchDB, too, finds conflicts
 * before it validates.
 */
record VetoedEdits(DocumentPlanner planner, EditGroup edits, LectusError error)
    implements DocumentPlanner {
  @Override
  public boolean readOn() {
    return planner.readOn();
  }

  @Override
  public PlannedDocument plan() {
    PlannedDocument planned = planner.plan();
    return planned.hasFailed() ? planned : PlannedDocument.failed(edits, error);
  }
}
