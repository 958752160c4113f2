package lectus.store.embedded.engine;

import lectus.error.NotInMemoryException;

/**
 * What the store held at one version. Reference-counted: each holder closes it once, the last one
 * frees the native snapshot; reads on a snapshot that one holds never race with its release.
 */
public interface Snapshot extends AutoCloseable {
  long version();

  /** The stored value, or null. */
  byte[] get(byte[] key);

  /**
   * The stored value, or null.
   *
   * @throws NotInMemoryException if the disk would have to be read
   */
  byte[] getFromMemory(byte[] key);

  /** The versionstamp last written to FF/metadataVersion, 10 bytes, or null. */
  byte[] metadataVersion();

  /** The stored rows of {@code [begin, end)}; {@code reverse} walks from the end. */
  default Cursor scan(byte[] begin, byte[] end, boolean reverse) {
    return scan(begin, end, reverse, Integer.MAX_VALUE);
  }

  /**
   * The stored rows of {@code [begin, end)}; {@code reverse} walks from the end.
   *
   * @param rows how many rows the caller is going to take at most; all of them are there even so,
   *     but for a few from the end there are faster ways than for a whole short range
   */
  Cursor scan(byte[] begin, byte[] end, boolean reverse, int rows);

  @Override
  void close();
}
