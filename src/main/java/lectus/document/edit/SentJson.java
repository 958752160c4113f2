package lectus.document.edit;

import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.ContentId;
import lectus.attachment.ContentUpload;
import lectus.attachment.Md5;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/**
 * The JSON of a request, as often as it is read. What is longer than a request may hold lies in the
 * store until it is discarded.
 *
 * @param held the JSON, if it is not in the store
 * @param length of what is held, in bytes
 * @param stored where it is in the store
 * @param marks of data that are stored already
 */
public record SentJson(byte[] held, int length, Optional<ContentUpload> stored, DataMarks marks) {

  /** Returns what came as a whole. */
  public static SentJson of(byte[] json) {
    return new SentJson(json, json.length, Optional.empty(), DataMarks.NONE);
  }

  /** Returns the JSON of one document, which is always held. */
  public byte[] document() {
    return length == held.length ? held : Arrays.copyOf(held, length);
  }

  /** Begins to read it. Waits for the store. */
  JsonInput open() {
    return stored
        .map(upload -> JsonInput.of((Supplier<byte[]>) upload.reread()::next))
        .orElseGet(() -> JsonInput.of(held, 0, length));
  }

  /** Clears what lies in the store. Waits for it. */
  public void discard() {
    stored.ifPresent(ContentUpload::abandon);
  }

  /**
   * What stands in the JSON of one request in place of data of attachments that were stored while
   * it came. A client does not know how marks begin, so it can send none.
   *
   * @param beginning no text of Base64
   */
  record DataMarks(String beginning) {
    /** Of JSON in which there are none. */
    static final DataMarks NONE = random();

    private static final String SEPARATOR = ":";
    private static final String TOO_LONG = "too long";
    private static final String INVALID = "invalid";

    static DataMarks random() {
      return new DataMarks("?" + UUID.randomUUID() + SEPARATOR);
    }

    String tooLong() {
      return beginning + TOO_LONG;
    }

    String invalid() {
      return beginning + INVALID;
    }

    String of(Attachment stored) {
      return beginning
          + String.join(
              SEPARATOR,
              stored.content().hex(),
              stored.md5().hex(),
              Long.toString(stored.length()),
              Long.toString(stored.storedLength()),
              Boolean.toString(stored.gzipped()));
    }

    /**
     * Returns the attachment of a mark; empty if the text is none.
     *
     * @throws LectusException the data could not be stored
     */
    Optional<Attachment> read(String text, String name, String type, long position) {
      if (!text.startsWith(beginning)) {
        return Optional.empty();
      }
      String[] parts = text.substring(beginning.length()).split(SEPARATOR, -1);
      return switch (parts[0]) {
        case TOO_LONG -> throw AttachmentUpload.tooLarge(name);
        case INVALID -> throw invalidData(name);
        default ->
            Optional.of(
                new Attachment(
                    name,
                    type,
                    new ContentId(parts[0]),
                    new Md5(parts[1]),
                    Long.parseLong(parts[2]),
                    Long.parseLong(parts[3]),
                    Boolean.parseBoolean(parts[4]),
                    position));
      };
    }

    static LectusException invalidData(String name) {
      return LectusException.badRequest("Invalid attachment data for " + name);
    }
  }
}
