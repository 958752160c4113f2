package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.document.DocumentId;
import lectus.document.edit.DocumentParser.DocumentReading.DocumentIdentity;
import lectus.document.edit.DocumentParser.DocumentReading.DocumentIdentity.WrittenRevisions;
import lectus.document.edit.SentJson.DataMarks;
import lectus.error.LectusException;
import lectus.json.JsonInput;
import lectus.revision.Ancestors;
import lectus.revision.RevisionHash;

/**
 * Reads a document's members whose names begin with an underscore, and reports faults with
 * CouchDB's sentences. The last of duplicate members wins.
 */
final class ReservedMembers {
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

  private final int maxIdBytes;
  private final DataMarks marks;
  private Optional<String> id = Optional.empty();
  private Optional<String> rev = Optional.empty();
  private Optional<WrittenRevisions> revisions = Optional.empty();
  private AttachmentEdits attachments = AttachmentEdits.NONE;
  private boolean deleted;

  ReservedMembers(int maxIdBytes, DataMarks marks) {
    this.maxIdBytes = maxIdBytes;
    this.marks = marks;
  }

  /** Whether a member of this name is not part of the body. */
  static boolean reserves(String name) {
    return name.startsWith("_") && !OF_THE_BODY.contains(name);
  }

  /** Returns what was read so far; the id may be illegal. */
  DocumentIdentity identity() {
    return new DocumentIdentity(id, rev, revisions);
  }

  boolean deleted() {
    return deleted;
  }

  AttachmentEdits attachments() {
    return attachments;
  }

  /** Reads the member whose name is the input's current token. */
  void read(JsonInput input, String name) {
    JsonToken token = input.next();
    switch (name) {
      case "_id" -> readId(input, token);
      case "_rev" -> rev = Optional.of(readRev(input, token));
      case "_deleted" -> deleted = readDeleted(token);
      case "_revisions" -> revisions = Optional.of(readRevisions(input, token));
      case "_attachments" -> attachments = new AttachmentMembers(input, marks).read(token);
      case "_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts" -> input.skip();
      default -> throw unknown(name);
    }
  }

  private void readId(JsonInput input, JsonToken token) {
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

  private static String readRev(JsonInput input, JsonToken token) {
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
        start.orElseThrow(ReservedMembers::badStart), ids.orElseThrow(ReservedMembers::badIds));
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
