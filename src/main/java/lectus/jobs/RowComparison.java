package lectus.jobs;

import java.util.Optional;

/** Knows which rows are made of a document. */
public interface RowComparison {
  /** Returns what a document should have under a key; empty if it should have nothing. */
  Optional<byte[]> expected(String docId, byte[] key);
}
