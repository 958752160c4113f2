package lectus.document.write;

/**
 * Plans the edits of one document: what to read, whether the edits are allowed, and what to write
 * (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/001-fdb-revision-metadata-model.md">RFC
 * 001</a>, Update Path). Creating a planner starts its first reads, so that the reads of a whole
 * batch are under way before the first one is awaited.
 */
interface DocumentPlanner {

  /** Waits for the reads so far and starts those that depend on them; false if there are none. */
  boolean readOn();

  /** Once nothing is left to read on. Nothing is written. */
  PlannedDocument plan();
}
