package lectus.document.edit;

import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * A document that cannot be stored. Only its identity is kept.
 *
 * @param error the first fault found
 */
record UnreadableDocument(DocumentIdentity identity, LectusError error) implements DocumentReading {
  /** The text is held as parsed, in the answer, and in the answer's bytes. */
  private static final int COPIES = 4;

  @Override
  public long memoryBytes() {
    return ParsedDocument.MEMORY_BYTES + COPIES * identity.textLength();
  }

  @Override
  public ParsedDocument parsed() {
    throw new LectusException(error);
  }
}
