package lectus.store.embedded.engine.read;

import lectus.error.NotInMemoryException;

/**
 * The store at one version. Reference-counted: each holder closes it once, and the last one frees
 * the native snapshot. Reads on a held snapshot never race with its release.
 */
public interface StoreSnapshot extends AutoCloseable {
  /** How far behind the newest version a transaction may be: 5 s at 1 000 000 versions a second. */
  long WINDOW_VERSIONS = 5_000_000;

  long version();

  /** Returns the stored value, or null. */
  byte[] get(byte[] key);

  /**
   * Returns the stored value, or null.
   *
   * @throws NotInMemoryException if the disk would have to be read
   */
  byte[] getFromMemory(byte[] key);

  /** Returns the versionstamp last written to FF/metadataVersion, 10 bytes, or null. */
  byte[] metadataVersion();

  /** Returns the stored rows of {@code [begin, end)}. {@code reverse} walks from the end. */
  default Cursor scan(byte[] begin, byte[] end, boolean reverse) {
    return scan(begin, end, reverse, Integer.MAX_VALUE);
  }

  /**
   * Returns the stored rows of {@code [begin, end)}. {@code reverse} walks from the end.
   *
   * @param rows a hint of the most rows that the caller takes: the cursor still yields all rows,
   *     but a few from the end can be read faster than a whole short range
   */
  Cursor scan(byte[] begin, byte[] end, boolean reverse, int rows);

  @Override
  void close();
}
