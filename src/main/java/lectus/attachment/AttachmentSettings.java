package lectus.attachment;

import java.util.List;

/**
 * What attachments may be, and how they are stored.
 *
 * @param mostBytes maximum length of one
 */
public record AttachmentSettings(long mostBytes, Compression compression) {
  /** CouchDB's default, a gigabyte. */
  public static final long DEFAULT_MOST_BYTES = 1L << 30;

  /** CouchDB's default. */
  public static final List<String> COMPRESSED_TYPES =
      List.of("text/*", "application/javascript", "application/json", "application/xml");

  /** CouchDB's default. */
  public static final int COMPRESSION_LEVEL = 8;

  public static final AttachmentSettings DEFAULT =
      new AttachmentSettings(
          DEFAULT_MOST_BYTES, Compression.of(COMPRESSION_LEVEL, COMPRESSED_TYPES));
}
