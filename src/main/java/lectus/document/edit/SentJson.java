package lectus.document.edit;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.attachment.ContentUpload;
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
}
