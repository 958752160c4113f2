package lectus.document.body;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.document.DatabaseReads;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;

/**
 * A document in a page, and the text that takes its place if one of its attachments cannot be
 * decompressed: an earlier version stored what clients called gzip without a look. So one of them
 * costs its own row, and not the whole answer. In the page: a mark's first byte, {@link #KIND}, the
 * lengths of the two texts, and these.
 */
public record CheckedText(byte[] page, int instead, int document, int end) {
  static final byte KIND = (byte) AttachmentBytes.Form.values().length;

  private static final int HEAD_BYTES = 2 + 2 * Integer.BYTES;

  private static final String ERROR = "bad_content_type";
  private static final String REASON =
      "An attachment of the document came as gzip and is none; "
          + "it is given to clients that accept gzip.";

  /**
   * Lets the value of a member give way to nil, followed by the members {@code error} and {@code
   * reason}.
   *
   * @param from where the document begins that the page ends with; some of its bytes are to be
   *     decompressed
   */
  public static void orNil(JsonBuffer page, int from) {
    JsonBuffer instead = new JsonBuffer(256).nil().ascii(",\"error\":").string(ERROR);
    put(page, from, instead.ascii(",\"reason\":").string(REASON));
  }

  /** Lets the result of one revision give way to that of {@code _bulk_get} for one that fails. */
  public static void orError(JsonBuffer page, int from, String id, RevisionId revision) {
    JsonBuffer instead = new JsonBuffer(256).ascii("{\"error\":{\"rev\":");
    RevisionText.append(instead, revision);
    instead.ascii(",\"reason\":").string(REASON).ascii(",\"id\":").string(id);
    put(page, from, instead.ascii(",\"error\":").string(ERROR).ascii("}}"));
  }

  private static void put(JsonBuffer page, int from, JsonBuffer instead) {
    byte[] document = Arrays.copyOfRange(page.array(), from, page.length());
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).put(AttachmentBytes.FIRST).put(KIND);
    head.putInt(instead.length()).putInt(document.length);
    page.truncate(from).raw(head.array()).raw(instead.array(), 0, instead.length()).raw(document);
  }

  /** Returns the offset of the first mark of compressed bytes; {@code to} if there is none. */
  private static int firstCompressed(byte[] page, int from, int to) {
    int at = AttachmentBytes.firstMark(page, from, to);
    while (at < to && !AttachmentBytes.markedAt(page, at).isDecompressed()) {
      at = AttachmentBytes.firstMark(page, at + AttachmentBytes.MARK_BYTES, to);
    }
    return at;
  }

  /** Returns what the mark at an offset begins, if it is one of these. */
  static Optional<CheckedText> at(byte[] page, int offset) {
    if (page[offset + 1] != KIND) {
      return Optional.empty();
    }
    ByteBuffer head = ByteBuffer.wrap(page, offset + 2, HEAD_BYTES - 2);
    int instead = offset + HEAD_BYTES;
    int document = instead + head.getInt();
    return Optional.of(new CheckedText(page, instead, document, document + head.getInt()));
  }

  /**
   * Whether all attachments of the document can be decompressed. Reads those that are not known.
   */
  boolean isReadable(DatabaseReads reads) {
    return isReadable(reads, page, document, end);
  }

  /** Returns the error of an answer that is a single document. */
  public static LectusException unreadable() {
    return new LectusException(new LectusError.UnsupportedMediaType(REASON));
  }

  /** Whether all attachments in a page can be decompressed. */
  public static boolean isReadable(DatabaseReads reads, JsonBuffer page) {
    return isReadable(reads, page.array(), 0, page.length());
  }

  private static boolean isReadable(DatabaseReads reads, byte[] page, int from, int to) {
    List<AttachmentBytes> compressed = new ArrayList<>();
    for (int at = firstCompressed(page, from, to);
        at < to;
        at = firstCompressed(page, at + AttachmentBytes.MARK_BYTES, to)) {
      compressed.add(AttachmentBytes.markedAt(page, at));
    }
    return AttachmentBytes.areReadable(compressed, reads);
  }
}
