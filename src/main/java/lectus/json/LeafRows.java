package lectus.json;

/** Receives a body as the key-values to store, in ascending order of their paths. */
public interface LeafRows {
  /**
   * @param path follows the revision's key
   * @param value within the store's limit on values
   */
  void row(byte[] path, byte[] value);
}
