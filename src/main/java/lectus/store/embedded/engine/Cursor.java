package lectus.store.embedded.engine;

/** Walks the stored keys of one range of one snapshot, in key order or against it. */
public interface Cursor extends AutoCloseable {
  /** Steps to the next row; false at the end. */
  boolean next();

  /** A copy of the key of the current row. */
  byte[] key();

  /** A copy of the value of the current row. */
  byte[] value();

  @Override
  void close();
}
