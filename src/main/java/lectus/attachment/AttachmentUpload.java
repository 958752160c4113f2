package lectus.attachment;

import java.security.MessageDigest;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Takes the bytes of one attachment, compresses them if its type is to be, and knows what CouchDB
 * shows of it. Not thread-safe.
 */
public final class AttachmentUpload {
  private final String name;
  private final String type;
  private final ContentUpload content;
  private final long mostBytes;
  private final int level;
  private final MessageDigest md5 = Digests.md5();
  private Optional<ContentCompressor> compressor = Optional.empty();
  private long length;

  /**
   * @param level of compression; 0 for none
   * @param mostBytes maximum length
   */
  AttachmentUpload(String name, String type, ContentUpload content, int level, long mostBytes) {
    this.name = name;
    this.type = type;
    this.content = content;
    this.level = level;
    this.mostBytes = mostBytes;
  }

  /** Returns how many bytes have come. */
  public long length() {
    return length;
  }

  /**
   * @throws LectusException {@code attachment_too_large} (413); as {@link ContentUpload#write}
   */
  public void write(byte[] bytes, int from, int to) {
    length += to - from;
    if (length > mostBytes) {
      throw tooLarge(name);
    }
    if (level == 0) {
      content.write(bytes, from, to);
    } else {
      md5.update(bytes, from, to - from);
      compressor().write(bytes, from, to);
    }
  }

  public static LectusException tooLarge(String name) {
    return new LectusException(new LectusError.TooLarge("attachment_too_large", name));
  }

  /** Also of nothing: CouchDB stores 20 bytes of gzip then, and the digest is theirs. */
  private void endCompressed() {
    try (ContentCompressor ended = compressor()) {
      ended.finish();
    }
  }

  private ContentCompressor compressor() {
    if (compressor.isEmpty()) {
      compressor = Optional.of(new ContentCompressor(content, level));
    }
    return compressor.get();
  }

  /**
   * Stores the rest.
   *
   * @param expected the MD5 that the client gave of the bytes as it sent them
   * @param position CouchDB's {@code revpos}
   * @param gzipped whether the client compressed the bytes
   * @param decodedLength of the bytes before the client compressed them, if it said so
   * @throws LectusException {@code content_md5_mismatch} (400); as {@link ContentUpload#write}
   */
  public Attachment finish(
      Optional<Md5> expected, long position, boolean gzipped, Optional<Long> decodedLength) {
    Optional<Md5> sent = Optional.empty();
    if (level > 0) {
      endCompressed();
      sent = Optional.of(Md5.of(md5.digest()));
    }
    requireSame(expected, sent);
    Content stored = content.finish();
    if (sent.isEmpty()) {
      requireSame(expected, Optional.of(stored.md5()));
    }
    boolean compressed = gzipped || level > 0;
    return new Attachment(
        name,
        type,
        stored.id(),
        stored.md5(),
        gzipped ? decodedLength.orElse(stored.length()) : length,
        stored.length(),
        compressed,
        position);
  }

  private static void requireSame(Optional<Md5> expected, Optional<Md5> found) {
    if (expected.isPresent() && found.isPresent() && !expected.equals(found)) {
      throw LectusException.badRequest("content_md5_mismatch", "Possible message corruption.");
    }
  }

  /** Gives up; what was stored is cleared. */
  public void abandon() {
    compressor.ifPresent(ContentCompressor::close);
    content.abandon();
  }
}
