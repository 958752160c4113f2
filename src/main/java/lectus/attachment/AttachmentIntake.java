package lectus.attachment;

import lectus.database.DatabaseName;

/** Takes attachments as clients send them. */
public record AttachmentIntake(ContentStore contents, AttachmentSettings settings) {
  /** Memory of a compressor, in bytes. */
  private static final int COMPRESSOR_BYTES = 300_000;

  /** What one upload holds in memory at most. */
  public static final long UPLOAD_BYTES = ContentUpload.MOST_BYTES + COMPRESSOR_BYTES;

  /**
   * @param gzipped whether the client has compressed it
   */
  public AttachmentUpload begin(DatabaseName database, String name, String type, boolean gzipped) {
    Compression compression = settings.compression();
    int level = !gzipped && compression.concerns(type) ? compression.level() : 0;
    return new AttachmentUpload(name, type, contents.begin(database), level, settings.mostBytes());
  }
}
