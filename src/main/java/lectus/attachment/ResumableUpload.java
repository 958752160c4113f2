package lectus.attachment;

/**
 * An attachment of which the first bytes have come.
 *
 * @param chunks what they are stored under
 * @param total length of the attachment as the client sends it
 * @param received how many bytes are stored
 */
public record ResumableUpload(UploadId chunks, UploadTarget target, long total, long received) {

  static ResumableUpload begun(UploadTarget target, long total) {
    return new ResumableUpload(UploadId.random(), target, total, 0);
  }

  /** Whether every byte has come. */
  public boolean isComplete() {
    return received == total;
  }

  /** Returns the number of the last chunk that is stored. */
  public long lastChunk() {
    return (received - 1) / ContentUpload.CHUNK_BYTES;
  }

  /** Returns how many bytes the last chunk has. */
  public int lastChunkBytes() {
    return (int) (received - lastChunk() * ContentUpload.CHUNK_BYTES);
  }

  ResumableUpload upTo(long nowReceived) {
    return new ResumableUpload(chunks, target, total, nowReceived);
  }
}
