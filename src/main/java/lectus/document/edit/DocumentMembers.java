package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;

/**
 * Reads one document to its end, even a malformed one, because other documents of a bulk request
 * follow it. After the first refused member nothing more is exploded. The members that identify the
 * document are still read, since they may come last.
 */
final class DocumentMembers {
  private final JsonInput input;
  private final ReservedMembers reserved;
  private final JsonExploder exploder;
  private Optional<LectusError> problem = Optional.empty();

  /**
   * @param input positioned at the document's opening brace
   */
  DocumentMembers(JsonInput input, ReservedMembers reserved, JsonExploder exploder) {
    this.input = input;
    this.reserved = reserved;
    this.exploder = exploder;
  }

  /**
   * @throws LectusException {@code bad_request}: not JSON, so the end of the document is unknown
   */
  DocumentReading read() {
    int depth = input.depth() + 1;
    while (input.next() == JsonToken.FIELD_NAME) {
      try {
        member(input.name());
      } catch (LectusException refusal) {
        note(refusal);
        input.finishMember(depth);
      }
    }
    return problem.<DocumentReading>map(this::unreadable).orElseGet(this::exploded);
  }

  private void member(String name) {
    if (ReservedMembers.reserves(name)) {
      reserved.read(input, name);
    } else if (problem.isEmpty()) {
      exploder.member(name);
    } else {
      input.next();
      input.skip();
    }
  }

  private void note(LectusException refusal) {
    problem = problem.or(() -> Optional.of(refusal.error()));
  }

  private DocumentReading exploded() {
    try {
      return new ParsedDocument(
          reserved.identity(), reserved.deleted(), exploder.finish(), reserved.attachments());
    } catch (LectusException tooLarge) {
      return unreadable(tooLarge.error());
    }
  }

  private DocumentReading unreadable(LectusError error) {
    return new UnreadableDocument(reserved.identity(), error);
  }
}
