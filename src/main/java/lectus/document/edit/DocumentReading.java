package lectus.document.edit;

import lectus.error.LectusException;

/** The result of reading one document to its end. */
sealed interface DocumentReading permits ParsedDocument, UnreadableDocument {
  DocumentIdentity identity();

  /** Returns about how many bytes of memory it holds until it is written. */
  long memoryBytes();

  /**
   * @throws LectusException what is wrong with the document
   */
  ParsedDocument parsed();
}
