package lectus.document.write;

import lectus.error.LectusError;

/**
 * Edits that are refused unless something else is wrong with them: as in CouchDB a conflict is told
 * before what a validation would say.
 */
record VetoedEdits(DocumentPlanner planner, DocumentEdits edits, LectusError error)
    implements DocumentPlanner {
  @Override
  public void readOn() {
    planner.readOn();
  }

  @Override
  public PlannedDocument plan() {
    PlannedDocument planned = planner.plan();
    return planned.hasFailed() ? planned : PlannedDocument.failed(edits, error);
  }
}
