package lectus.attachment;

import java.util.function.Supplier;
import lectus.database.DatabaseName;

/**
 * Takes attachments as clients send them.
 *
 * @param settings may change at any time
 */
public record AttachmentIntake(ContentStore contents, Supplier<AttachmentSettings> settings) {
  /** Memory of a compressor, in bytes. */
  private static final int COMPRESSOR_BYTES = 300_000;

  /** What one upload holds in memory at most. */
  public static final long UPLOAD_BYTES = ContentUpload.MOST_BYTES + COMPRESSOR_BYTES;

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
