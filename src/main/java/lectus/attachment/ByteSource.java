package lectus.attachment;

/** Bytes that come one piece after the other. Not thread-safe. */
public interface ByteSource {
  /** Returns the next bytes; none at the end. */
  byte[] next();
}
