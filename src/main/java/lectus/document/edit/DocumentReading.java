package lectus.document.edit;

import lectus.error.LectusException;

/** What came of reading one document to its end. */
sealed interface DocumentReading permits ParsedDocument, UnreadableDocument {
  DocumentIdentity identity();

  /** About what it holds in memory, until it is written: bytes. */
  long memoryBytes();

  /**
   * @throws LectusException what is wrong with the document
   */
  ParsedDocument parsed();
}
