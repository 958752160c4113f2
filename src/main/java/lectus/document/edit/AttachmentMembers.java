package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.attachment.Attachment;
import lectus.attachment.ContentId;
import lectus.attachment.Md5;
import lectus.document.edit.SentJson.DataMarks;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/** Reads a document's {@code _attachments}, and reports faults with CouchDB's sentences. */
final class AttachmentMembers {
  private static final String MEMBER = "_attachments";

  /** The type of an attachment that names none. */
  static final String UNKNOWN_TYPE = "application/octet-stream";

  /** Longer numbers are no lengths or positions. */
  private static final int MAX_DIGITS = 18;

  private final JsonInput input;
  private final DataMarks marks;
  private final List<EditedAttachment> all = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  /**
   * @param marks of data that were stored while the JSON came
   */
  AttachmentMembers(JsonInput input, DataMarks marks) {
    this.input = input;
    this.marks = marks;
  }

  /**
   * @param token the first one of the value
   */
  AttachmentEdits read(JsonToken token) {
    if (token != JsonToken.START_OBJECT) {
      throw DocumentMembers.unknown(MEMBER);
    }
    while (input.next() == JsonToken.FIELD_NAME) {
      String name = AttachmentName.check(input.name());
      if (!names.add(name)) {
        throw LectusException.badRequest("Duplicate attachments");
      }
      if (input.next() != JsonToken.START_OBJECT) {
        throw DocumentMembers.unknown(MEMBER);
      }
      all.add(new Members(name).read());
    }
    return new AttachmentEdits(all);
  }

  /** The members of one attachment. */
  private final class Members {
    private final String name;
    private String type = UNKNOWN_TYPE;
    private boolean stub;
    private boolean follows;
    private Optional<Long> position = Optional.empty();
    private Optional<Long> length = Optional.empty();
    private Optional<Long> encodedLength = Optional.empty();
    private Optional<String> digest = Optional.empty();
    private Optional<Md5> md5 = Optional.empty();
    private Optional<ContentId> content = Optional.empty();
    private Optional<String> encoding = Optional.empty();
    private Optional<byte[]> data = Optional.empty();
    private Optional<Attachment> stored = Optional.empty();

    Members(String name) {
      this.name = name;
    }

    EditedAttachment read() {
      while (input.next() == JsonToken.FIELD_NAME) {
        read(input.name(), input.next());
      }
      if (stub) {
        return content.isPresent() ? known() : new EditedAttachment.Stub(name, position, md5);
      }
      return follows ? following() : inside();
    }

    private void read(String member, JsonToken value) {
      switch (member) {
        case "content_type" -> type = AttachmentName.checkType(text(value).orElse(type));
        case "stub" -> stub = value == JsonToken.VALUE_TRUE;
        case "follows" -> follows = value == JsonToken.VALUE_TRUE;
        case "revpos" -> position = number(value);
        case "length" -> length = number(value);
        case "encoded_length" -> encodedLength = number(value);
        case "digest" -> {
          digest = value == JsonToken.VALUE_NULL ? Optional.empty() : Optional.of(input.text());
          md5 = text(value).flatMap(Md5::ofDigest);
          content = text(value).flatMap(ContentId::ofDigest);
        }
        case "encoding" -> encoding = text(value);
        case "data" -> readData(text(value).orElseThrow(this::invalidData));
        default -> {}
      }
      input.skip();
    }

    /** The lengths show, beside the digest, that the client knows the content. */
    private EditedAttachment known() {
      boolean gzipped = isGzipped();
      long plain = length.orElseThrow(this::noLength);
      return new EditedAttachment.Known(
          name,
          type,
          position.orElse(0L),
          content.orElseThrow(),
          plain,
          gzipped ? encodedLength.orElseThrow(this::noLength) : plain,
          gzipped);
    }

    private LectusException noLength() {
      return LectusException.badRequest(
          "The stub of "
              + name
              + " has a digest of SHA-256, and so needs its length, and its encoded_length if it"
              + " has an encoding.");
    }

    private boolean isGzipped() {
      boolean gzipped = encoding.filter("gzip"::equals).isPresent();
      if (!gzipped && encoding.filter(other -> !other.equals("identity")).isPresent()) {
        throw LectusException.badRequest("Unknown encoding of the attachment " + name);
      }
      return gzipped;
    }

    private EditedAttachment following() {
      boolean gzipped = isGzipped();
      if (digest.isPresent() && md5.isEmpty()) {
        throw LectusException.badRequest("The digest of the attachment " + name + " is no MD5.");
      }
      return new EditedAttachment.Following(
          name,
          type,
          position.orElse(0L),
          md5,
          length,
          gzipped ? encodedLength.or(() -> length) : length,
          gzipped);
    }

    private void readData(String text) {
      stored = marks.read(text, name, UNKNOWN_TYPE, 0);
      try {
        data = stored.isPresent() ? Optional.empty() : Optional.of(Base64Text.decoded(text));
      } catch (Base64Text.Invalid noBase64) {
        throw invalidData();
      }
    }

    /** Returns one that came inside of the document. */
    private EditedAttachment inside() {
      long known = position.orElse(0L);
      return stored.isPresent()
          ? new EditedAttachment.Arrived(stored.get().as(type).at(known))
          : new EditedAttachment.Inline(name, type, known, data.orElseThrow(this::invalidData));
    }

    private LectusException invalidData() {
      return DataMarks.invalidData(name);
    }

    private Optional<String> text(JsonToken value) {
      return value == JsonToken.VALUE_STRING ? Optional.of(input.text()) : Optional.empty();
    }

    private Optional<Long> number(JsonToken value) {
      return value == JsonToken.VALUE_NUMBER_INT && input.textLength() <= MAX_DIGITS
          ? Optional.of(Long.parseLong(input.text()))
          : Optional.empty();
    }
  }
}
