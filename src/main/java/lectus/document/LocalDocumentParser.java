package lectus.document;

import com.fasterxml.jackson.core.JsonToken;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;

/** Reads a local document as a client sends it, in one pass. */
final class LocalDocumentParser {
  private final JsonInput input;
  private Optional<String> revision = Optional.empty();
  private boolean deleted;

  private LocalDocumentParser(JsonInput input) {
    this.input = input;
  }

  /**
   * @param revision its {@code _rev}
   */
  record Parsed(Optional<String> revision, boolean deleted, ExplodedBody body) {}

  /**
   * @throws LectusException {@code bad_request}, {@code doc_validation}, {@code
   *     document_too_large}, {@code not_implemented} for attachments
   */
  static Parsed parse(byte[] json, JsonLimits limits) {
    try (JsonInput input = JsonInput.of(json)) {
      return new LocalDocumentParser(input).read(limits);
    }
  }

  private Parsed read(JsonLimits limits) {
    if (input.next() != JsonToken.START_OBJECT) {
      throw LectusException.badRequest("Document must be a JSON object");
    }
    JsonExploder exploder = new JsonExploder(input, limits);
    while (input.next() == JsonToken.FIELD_NAME) {
      String name = input.name();
      if (name.startsWith("_")) {
        readReserved(name, input.next());
      } else {
        exploder.member(name);
      }
    }
    input.expectEnd();
    return new Parsed(revision, deleted, exploder.finish());
  }

  private void readReserved(String name, JsonToken token) {
    switch (name) {
      case "_rev" -> revision = Optional.of(token == JsonToken.VALUE_STRING ? input.text() : "");
      case "_deleted" -> deleted = token == JsonToken.VALUE_TRUE;
      case "_attachments" -> readAttachments(token);
      case "_id", "_revisions", "_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts" ->
          input.skip();
      default ->
          throw LectusException.badRequest(
              "doc_validation", "Bad special document member: " + name);
    }
  }

  private void readAttachments(JsonToken token) {
    if (token != JsonToken.START_OBJECT || input.next() != JsonToken.END_OBJECT) {
      throw new LectusException(
          new LectusError.NotImplemented("Local documents cannot have attachments."));
    }
  }
}
