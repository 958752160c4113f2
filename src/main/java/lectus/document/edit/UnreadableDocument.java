package lectus.document.edit;

import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * A document that cannot be taken. Nothing is kept of it but who it is.
 *
 * @param error the first thing that is wrong with it
 */
record UnreadableDocument(DocumentIdentity identity, LectusError error) implements DocumentReading {
  @Override
  public long memoryBytes() {
    return ParsedDocument.MEMORY_BYTES;
  }

  @Override
  public ParsedDocument parsed() {
    throw new LectusException(error);
  }
}
