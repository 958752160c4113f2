package lectus.document.write;

import lectus.error.LectusError;

/**
 * Edits that are refused. If something else is wrong with them, that is told instead: CouchDB, too,
 * finds conflicts before it validates.
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
