package lectus.store.embedded.engine.read;

/** Walks the stored keys of one range of one snapshot, forward or backward. */
public interface Cursor extends AutoCloseable {
  /** Steps to the next row. Returns false at the end. */
  boolean next();

  /** Returns a copy of the current row's key. */
  byte[] key();

  /** Returns a copy of the current row's value. */
  byte[] value();

  @Override
  void close();
}
