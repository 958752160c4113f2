package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.document.DocumentId;
import lectus.document.edit.DocumentParser.DocumentReading;
import lectus.document.edit.DocumentParser.DocumentReading.DocumentIdentity;
import lectus.document.edit.DocumentParser.DocumentReading.DocumentIdentity.WrittenRevisions;
import lectus.document.edit.DocumentParser.DocumentReading.ParsedDocument;
import lectus.document.edit.DocumentParser.DocumentReading.UnreadableDocument;
import lectus.document.edit.SentJson.DataMarks;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.revision.Ancestors;
import lectus.revision.RevisionHash;

/**
 * The members of one document, which is read to its end, even a malformed one, because other
 * documents of a bulk request follow it. After the first refused member nothing more is exploded.
 * Those whose names begin with an underscore are still read, since what identifies the document may
 * come last. Faults are reported with CouchDB's sentences. The last of duplicate members wins.
 */
final class DocumentMembers {
  /** Longer numbers are not positions. */
  private static final int MAX_POSITION_DIGITS = 18;

  /** Maximum number of characters of an illegal id that an error row repeats. */
  private static final int LONGEST_ID = 8_192;

  /** Maximum number of characters; no revision is longer. */
  private static final int LONGEST_REVISION = 1_024;

  /** Maximum number of characters of a member's name that an error repeats. */
  private static final int LONGEST_NAME = 100;

  /** Notes of CouchDB's replicator, stored and returned like any other member. */
  private static final Set<String> OF_THE_BODY =
      Set.of(
          "_access",
          "_replication_id",
          "_replication_state",
          "_replication_state_reason",
          "_replication_state_time",
          "_replication_stats");

  private final JsonInput input;
  private final int maxIdBytes;
  private final DataMarks marks;
  private final JsonExploder exploder;
  private Optional<LectusError> problem = Optional.empty();
  private Optional<String> id = Optional.empty();
  private Optional<String> rev = Optional.empty();
  private Optional<WrittenRevisions> revisions = Optional.empty();
  private AttachmentEdits attachments = AttachmentEdits.NONE;
  private boolean deleted;

  /**
   * @param input positioned at the document's opening brace
   */
  DocumentMembers(JsonInput input, int maxIdBytes, DataMarks marks, JsonExploder exploder) {
    this.input = input;
    this.maxIdBytes = maxIdBytes;
    this.marks = marks;
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
        problem = problem.or(() -> Optional.of(refusal.error()));
        input.finishMember(depth);
      }
    }
    DocumentIdentity identity = new DocumentIdentity(id, rev, revisions);
    if (problem.isPresent()) {
      return new UnreadableDocument(identity, problem.get());
    }
    try {
      return new ParsedDocument(identity, deleted, exploder.finish(), attachments);
    } catch (LectusException tooLarge) {
      return new UnreadableDocument(identity, tooLarge.error());
    }
  }

  private void member(String name) {
    if (name.startsWith("_") && !OF_THE_BODY.contains(name)) {
      reserved(name);
    } else if (problem.isEmpty()) {
      exploder.member(name);
    } else {
      input.next();
      input.skip();
    }
  }

  /** Reads a member that is not part of the body. */
  private void reserved(String name) {
    JsonToken token = input.next();
    switch (name) {
      case "_id" -> readId(token);
      case "_rev" -> rev = Optional.of(readRev(token));
      case "_deleted" -> deleted = readDeleted(token);
      case "_revisions" -> revisions = Optional.of(readRevisions(input, token));
      case "_attachments" -> attachments = new AttachmentMembers(input, marks).read(token);
      case "_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts" -> input.skip();
      default -> throw unknown(name);
    }
  }

  private void readId(JsonToken token) {
    if (token != JsonToken.VALUE_STRING) {
      throw LectusException.badRequest("illegal_docid", "Document id must be a string");
    }
    if (input.textLength() > LONGEST_ID) {
      throw LectusException.badRequest("illegal_docid", "Document id is too long");
    }
    String text = input.text();
    id = Optional.of(text);
    DocumentId.check(text, maxIdBytes);
  }

  private String readRev(JsonToken token) {
    // A longer text gets the same error as one that is not a revision.
    boolean mayBe = token == JsonToken.VALUE_STRING && input.textLength() <= LONGEST_REVISION;
    return mayBe ? input.text() : "";
  }

  private static boolean readDeleted(JsonToken token) {
    if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
      throw unknown("_deleted");
    }
    return token == JsonToken.VALUE_TRUE;
  }

  private static WrittenRevisions readRevisions(JsonInput input, JsonToken token) {
    if (token != JsonToken.START_OBJECT) {
      throw unknown("_revisions");
    }
    Optional<Long> start = Optional.empty();
    Optional<List<RevisionHash>> ids = Optional.empty();
    while (input.next() == JsonToken.FIELD_NAME) {
      String name = input.name();
      JsonToken value = input.next();
      switch (name) {
        case "start" -> start = Optional.of(readStart(input, value));
        case "ids" -> ids = Optional.of(readIds(input, value));
        default -> input.skip();
      }
    }
    return new WrittenRevisions(
        start.orElseThrow(DocumentMembers::badStart), ids.orElseThrow(DocumentMembers::badIds));
  }

  private static long readStart(JsonInput input, JsonToken token) {
    if (token != JsonToken.VALUE_NUMBER_INT || input.textLength() > MAX_POSITION_DIGITS) {
      throw badStart();
    }
    return Long.parseLong(input.text());
  }

  private static List<RevisionHash> readIds(JsonInput input, JsonToken token) {
    if (token != JsonToken.START_ARRAY) {
      throw badIds();
    }
    List<RevisionHash> ids = new ArrayList<>();
    while (input.next() != JsonToken.END_ARRAY) {
      if (input.token() != JsonToken.VALUE_STRING) {
        throw invalid("RevId isn't a string");
      }
      RevisionHash hash = readHash(input);
      if (ids.size() <= Ancestors.MAX_COUNT) {
        ids.add(hash);
      }
    }
    return ids;
  }

  private static RevisionHash readHash(JsonInput input) {
    Optional<RevisionHash> hash =
        input.textLength() > LONGEST_REVISION ? Optional.empty() : RevisionHash.parse(input.text());
    return hash.orElseThrow(() -> invalid("RevId isn't valid"));
  }

  private static LectusException badStart() {
    return invalid("_revisions.start isn't an integer.");
  }

  private static LectusException badIds() {
    return invalid("_revisions.ids isn't a array.");
  }

  static LectusException unknown(String name) {
    String told = name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME) + "…" : name;
    return invalid("Bad special document member: " + told);
  }

  private static LectusException invalid(String reason) {
    return LectusException.badRequest("doc_validation", reason);
  }
}
