package lectus.attachment;

import java.util.function.Supplier;
import lectus.database.DatabaseName;

/**
 * Takes attachments as clients send them.
 *
 * @param settings may change at any time
 */
public record AttachmentIntake(ContentStore contents, Supplier<AttachmentSettings> settings) {
  /** Memory with which an upload goes on, without a compressor's. */
  public static final long LEAST_BYTES = ContentUpload.LEAST_BYTES;

  /** The same, with a compressor's. */
  public static final long LEAST_BYTES_COMPRESSED = LEAST_BYTES + AttachmentUpload.COMPRESSOR_BYTES;

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
}
