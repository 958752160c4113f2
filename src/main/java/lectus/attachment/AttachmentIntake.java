package lectus.attachment;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import lectus.attachment.AttachmentIntake.AttachmentSettings.Compression;
import lectus.attachment.GzipReader.Unzipped;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.store.TransactionRunner;

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

    /**
     * Which attachments are stored compressed, as CouchDB decides: by their types.
     *
     * @param level 1 to 9; 0 for none
     * @param types patterns such as {@code text/*}
     */
    public record Compression(int level, List<Pattern> types) {
      public static final Compression NONE = new Compression(0, List.of());

      /**
       * @param types separated by commas, with {@code *} for anything
       */
      public static Compression of(int level, List<String> types) {
        return new Compression(level, types.stream().map(Compression::pattern).toList());
      }

      private static Pattern pattern(String type) {
        String[] parts = type.strip().toLowerCase(Locale.ROOT).split("\\*", -1);
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < parts.length; i++) {
          pattern.append(i == 0 ? "" : ".*").append(Pattern.quote(parts[i]));
        }
        return Pattern.compile(pattern.toString(), Pattern.DOTALL);
      }

      /** Whether an attachment of this type is compressed. */
      boolean concerns(String type) {
        int semicolon = type.indexOf(';');
        String bare = (semicolon < 0 ? type : type.substring(0, semicolon)).strip();
        String lower = bare.toLowerCase(Locale.ROOT);
        return level > 0 && types.stream().anyMatch(it -> it.matcher(lower).matches());
      }
    }
  }

  public record ContentStore(Catalogue catalogue, TransactionRunner transactions) {

    /** Begins to store a content. Nothing is written before its first chunks are complete. */
    public ContentUpload begin(DatabaseName database) {
      return new ContentUpload(catalogue, transactions, database);
    }

    /** Returns the bytes of an attachment as they are stored. */
    ByteSource bytes(DatabaseName database, Attachment attachment) {
      return new StoredBytes(
          body -> transactions.read(tx -> body.apply(tx, catalogue.current(tx, database))),
          attachment.content(),
          0,
          attachment.storedLength());
    }
  }
}
