package lectus.document.edit;

import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * A document that cannot be taken. Nothing is kept of it but who it is.
 *
 * @param error the first thing that is wrong with it
 */
record UnreadableDocument(DocumentIdentity identity, LectusError error) implements DocumentReading {
  /** The text as it was read, and in the answer, and in the answer's bytes. */
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
