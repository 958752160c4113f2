package lectus.document;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import lectus.attachment.Attachment;
import lectus.attachment.ByteSource;
import lectus.attachment.ContentId;
import lectus.attachment.GzipReader.Unzipped;
import lectus.attachment.StoredBytes;
import lectus.json.JsonBuffer;

/**
 * Bytes of an attachment that are read only when the client takes them. Until then a mark stands in
 * their place in the answer's page. It begins with a byte that UTF-8 does not have, so no text is
 * taken for one.
 *
 * @param length as stored
 */
public record AttachmentBytes(ContentId content, long length, Form form) {
  static final byte FIRST = (byte) 0xFF;
  private static final int SHA256_BYTES = 32;

  /** Length of a mark. */
  public static final int MARK_BYTES = 2 + SHA256_BYTES + Long.BYTES;

  /** How the bytes are written. */
  public enum Form {
    STORED,
    BASE64,
    DECOMPRESSED_BASE64
  }

  /** Returns the bytes as they are stored. */
  public static AttachmentBytes stored(Attachment attachment) {
    return new AttachmentBytes(attachment.content(), attachment.storedLength(), Form.STORED);
  }

  /** Returns the bytes as base64, decompressed. */
  static AttachmentBytes base64(Attachment attachment) {
    Form form = attachment.gzipped() ? Form.DECOMPRESSED_BASE64 : Form.BASE64;
    return new AttachmentBytes(attachment.content(), attachment.storedLength(), form);
  }

  /** Appends the mark. */
  public void mark(JsonBuffer page) {
    ByteBuffer mark = ByteBuffer.allocate(MARK_BYTES);
    mark.put(FIRST).put((byte) form.ordinal()).put(content.bytes()).putLong(length);
    page.raw(mark.array());
  }

  /** Returns the offset of the first mark from {@code from} on; {@code to} if there is none. */
  public static int firstMark(byte[] page, int from, int to) {
    int at = from;
    while (at < to && page[at] != FIRST) {
      at++;
    }
    return at;
  }

  /** Returns what the mark at an offset stands for. */
  static AttachmentBytes markedAt(byte[] page, int offset) {
    int content = offset + 2;
    ContentId id = ContentId.of(Arrays.copyOfRange(page, content, content + SHA256_BYTES));
    long length = ByteBuffer.wrap(page).getLong(content + SHA256_BYTES);
    return new AttachmentBytes(id, length, Form.values()[page[offset + 1]]);
  }

  ByteSource open(DatabaseReads reads) {
    return switch (form) {
      case STORED -> stored(reads);
      case BASE64 -> new Base64Bytes(stored(reads));
      case DECOMPRESSED_BASE64 -> new Base64Bytes(new Unzipped(stored(reads)));
    };
  }

  private ByteSource stored(DatabaseReads reads) {
    return new StoredBytes(reads::read, content, 0, length);
  }

  /** Bytes as base64. */
  static final class Base64Bytes implements ByteSource {
    /** So many bytes become whole characters. */
    private static final int GROUP = 3;

    private final ByteSource plain;
    private byte[] left = new byte[0];

    Base64Bytes(ByteSource plain) {
      this.plain = plain;
    }

    @Override
    public byte[] next() {
      byte[] bytes = plain.next();
      byte[] all = bytes.length == 0 ? left : joined(left, bytes);
      int whole = bytes.length == 0 ? all.length : all.length - all.length % GROUP;
      left = Arrays.copyOfRange(all, whole, all.length);
      // A source that has ended goes on giving none.
      return whole == 0 && bytes.length > 0
          ? next()
          : Base64.getEncoder().encode(Arrays.copyOf(all, whole));
    }

    private static byte[] joined(byte[] one, byte[] other) {
      byte[] all = Arrays.copyOf(one, one.length + other.length);
      System.arraycopy(other, 0, all, one.length, other.length);
      return all;
    }
  }
}
