package lectus.attachment;

import java.util.Optional;

/**
 * A content that is wholly stored.
 *
 * @param upload what its chunks are stored under
 * @param length in bytes
 * @param md5 of its bytes as they are stored
 * @param chunkBytes length of each chunk but the last
 * @param plainLength of the bytes that it decompresses to; empty unless it was verified to be gzip
 */
public record StoredContent(
    UploadId upload, long length, Md5 md5, int chunkBytes, Optional<Long> plainLength) {

  /** Returns the same content with another length of what it decompresses to. */
  public StoredContent withPlainLength(Optional<Long> verified) {
    return new StoredContent(upload, length, md5, chunkBytes, verified);
  }

  /** Returns the number of its chunks. */
  public long chunks() {
    return (length + chunkBytes - 1) / chunkBytes;
  }

  /** Returns the length of a chunk that is not damaged. */
  public int lengthOf(long chunk) {
    return (int) Math.min(chunkBytes, length - chunk * chunkBytes);
  }
}
