package lectus.attachment;

import java.util.Optional;
import java.util.function.Supplier;
import lectus.database.DatabaseName;

/**
 * Takes attachments as clients send them.
 *
 * @param settings may change at any time
 */
public record AttachmentIntake(ContentStore contents, Supplier<AttachmentSettings> settings) {
  /** Memory with which an upload goes on, without a compressor's. */
  public static final long MIN_BYTES = ContentUpload.MIN_BYTES;

  /** The same, with a compressor's. */
  public static final long MIN_BYTES_COMPRESSED = MIN_BYTES + AttachmentUpload.COMPRESSOR_BYTES;

  /** Returns how long an attachment may be now, in bytes. */
  public long mostBytes() {
    return settings.get().mostBytes();
  }

  /**
   * @param gzipped whether the client has compressed it
   */
  public AttachmentUpload begin(DatabaseName database, String name, String type, boolean gzipped) {
    AttachmentSettings now = settings.get();
    Compression compression = now.compression();
    int level = !gzipped && compression.concerns(type) ? compression.level() : 0;
    return new AttachmentUpload(
        name, type, contents.begin(database), gzipped, level, now.mostBytes());
  }

  /**
   * Returns an attachment that was stored before its type was known, compressed or not as its type
   * wants it. Waits for the store.
   */
  public Attachment asTypeWants(DatabaseName database, Attachment stored) {
    if (stored.gzipped() == settings.get().compression().concerns(stored.type())) {
      return stored;
    }
    AttachmentUpload upload = begin(database, stored.name(), stored.type(), false);
    try {
      ByteSource asStored = contents.bytes(database, stored);
      ByteSource bytes = stored.gzipped() ? new Unzipped(asStored) : asStored;
      for (byte[] next = bytes.next(); next.length > 0; next = bytes.next()) {
        upload.write(next, 0, next.length);
      }
      return upload.finish(Optional.empty(), stored.position(), Optional.empty());
    } catch (RuntimeException | Error failure) {
      upload.abandon();
      throw failure;
    }
  }
}
