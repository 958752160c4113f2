package lectus.attachment;

import java.security.MessageDigest;
import java.util.Optional;
import java.util.zip.DataFormatException;
import lectus.attachment.ContentUpload.Content;
import lectus.error.LectusException;

/**
 * Takes the bytes of one attachment, compresses them if its type is to be, and knows what CouchDB
 * shows of it. What a client has compressed is decompressed while it comes, so that each content
 * that is stored as gzip is gzip, of a length that is known. As in CouchDB, an attachment's digest
 * is that of its compressed bytes, so replicas of the same level agree on it. Not thread-safe.
 */
public final class AttachmentUpload {
  private static final int DECOMPRESSED_AT_ONCE = 16 << 10;

  /** Half of what zlib takes, since that is not of the heap. */
  static final int COMPRESSOR_BYTES = 130_000;

  private final String name;
  private final String type;
  private final ContentUpload content;
  private final boolean gzipped;
  private final int level;
  private final long mostBytes;
  private final MessageDigest md5 = Digests.md5();
  private Optional<GzipWriter> compressor = Optional.empty();
  private Optional<GzipReader> decompressor = Optional.empty();
  private byte[] decompressed = new byte[0];
  private long length;
  private long plainLength;

  /**
   * @param gzipped whether the client compresses the bytes
   * @param level of compression by the server; 0 for none
   * @param mostBytes maximum length, as sent and decompressed
   */
  AttachmentUpload(
      String name, String type, ContentUpload content, boolean gzipped, int level, long mostBytes) {
    this.name = name;
    this.type = type;
    this.content = content;
    this.gzipped = gzipped;
    this.level = level;
    this.mostBytes = mostBytes;
  }

  /** Returns how many bytes have come. */
  public long length() {
    return length;
  }

  /** Returns how many bytes are in memory, without what {@link #compressorBytes} counts. */
  public long heldBytes() {
    return content.heldBytes();
  }

  /** Returns what compressing takes. */
  public long compressorBytes() {
    return level > 0 ? COMPRESSOR_BYTES : 0;
  }

  /**
   * Stores what is complete, so that hardly any bytes are in memory.
   *
   * @throws LectusException as {@link ContentUpload#write}
   */
  public void relieve() {
    content.relieve();
  }

  /**
   * @throws LectusException {@code attachment_too_large} (413); {@code bad_request} (400): no gzip;
   *     as {@link ContentUpload#write}
   */
  public void write(byte[] bytes, int from, int to) {
    length += to - from;
    requireNoMore(length);
    if (level > 0) {
      md5.update(bytes, from, to - from);
      compressor().write(bytes, from, to);
    } else {
      if (gzipped) {
        decompress(bytes, from, to);
      }
      content.write(bytes, from, to);
    }
  }

  private void requireNoMore(long bytes) {
    if (bytes > mostBytes) {
      throw tooLarge(name);
    }
  }

  public static LectusException tooLarge(String name) {
    return LectusException.tooLarge("attachment_too_large", name);
  }

  private void decompress(byte[] bytes, int from, int to) {
    if (decompressor.isEmpty()) {
      decompressor = Optional.of(new GzipReader());
      decompressed = new byte[DECOMPRESSED_AT_ONCE];
    }
    try {
      GzipReader reader = decompressor.get();
      reader.take(bytes, from, to);
      int read = reader.read(decompressed, 0);
      while (read > 0) {
        plainLength += read;
        requireNoMore(plainLength);
        read = reader.read(decompressed, 0);
      }
    } catch (DataFormatException none) {
      throw notGzip();
    }
  }

  private LectusException notGzip() {
    return LectusException.badRequest(
        "The attachment " + name + " is announced as gzip and is none");
  }

  private GzipWriter compressor() {
    if (compressor.isEmpty()) {
      compressor = Optional.of(new GzipWriter(level, content::write));
    }
    return compressor.get();
  }

  /**
   * Stores the rest.
   *
   * @param expected the MD5 that the client gave of the bytes as it sent them
   * @param position CouchDB's {@code revpos}
   * @param announcedLength of the bytes before the client compressed them, if it said so. CouchDB
   *     gives the length of the compressed ones where it does not know it
   * @throws LectusException {@code content_md5_mismatch} (400); {@code bad_request} (400): no gzip,
   *     or of another length; as {@link ContentUpload#write}
   */
  public Attachment finish(Optional<Md5> expected, long position, Optional<Long> announcedLength) {
    Optional<Md5> sent = Optional.empty();
    if (level > 0) {
      // Also of nothing: CouchDB stores 20 bytes of gzip then, and the digest is theirs.
      compressor().finish();
      sent = Optional.of(Md5.of(md5.digest()));
    } else if (gzipped) {
      requireWhole(announcedLength);
    }
    close();
    requireSame(expected, sent);
    boolean compressed = gzipped || level > 0;
    long plain = gzipped ? plainLength : length;
    Content stored = content.finish(compressed ? Optional.of(plain) : Optional.empty());
    if (sent.isEmpty()) {
      requireSame(expected, Optional.of(stored.md5()));
    }
    return new Attachment(
        name, type, stored.id(), stored.md5(), plain, stored.length(), compressed, position);
  }

  private void requireWhole(Optional<Long> announcedLength) {
    if (!decompressor.map(GzipReader::isWhole).orElse(false)) {
      throw notGzip();
    }
    if (announcedLength.filter(it -> it != plainLength && it != length).isPresent()) {
      throw LectusException.badRequest(
          "The attachment " + name + " has not the length that is announced when decompressed");
    }
  }

  private static void requireSame(Optional<Md5> expected, Optional<Md5> found) {
    if (expected.isPresent() && found.isPresent() && !expected.equals(found)) {
      throw LectusException.badRequest("content_md5_mismatch", "Possible message corruption.");
    }
  }

  /** Gives up; what was stored is cleared. */
  public void abandon() {
    close();
    content.abandon();
  }

  private void close() {
    compressor.ifPresent(GzipWriter::close);
    decompressor.ifPresent(GzipReader::close);
  }
}
