package lectus.json;

/** Takes a body as the key-values that the store keeps of it, in ascending order of their paths. */
public interface LeafRows {
  /**
   * @param path follows the revision's key
   * @param value no longer than a value of the store may be
   */
  void row(byte[] path, byte[] value);
}
