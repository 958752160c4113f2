package lectus.document.write;

/**
 * Plans the edits of one document: what has to be read, whether they may be made, and what is
 * written then (RFC 001, Update Path). Made, a planner has started its first reads, so that those
 * of a whole batch are under way before the first is waited for.
 */
interface DocumentPlanner {

  /** Starts the reads that depend on what the first ones found. */
  void readOn();

  /** Waits for all reads. Nothing is written. */
  PlannedDocument plan();
}
