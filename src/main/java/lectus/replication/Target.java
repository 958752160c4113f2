package lectus.replication;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.BatchCopy.Wanted;

/** Where documents go. */
public interface Target extends Endpoint {
  /**
   * Creates the database unless it is there.
   *
   * @throws ReplicationFailure nobody may do so here, among others
   */
  void create(JsonObject parameters);

  List<Wanted> missing(Map<String, List<String>> revisions);

  /**
   * Stores revisions that were made elsewhere.
   *
   * @throws RuntimeException it is not known which of them are stored; they may come again
   */
  Arrived write(List<SentDocument> documents);

  /**
   * Whether it tells how many revisions were there already, unless they are of design documents. If
   * it was asked twice, the first time counts as before.
   */
  boolean tellsKnown();

  /** Whether a stub may name a content by its SHA-256, which is taken from any document. */
  boolean takesNamedStubs();

  /** Stores one revision whose attachments follow it. */
  Optional<Refusal> write(SentDocument document, AttachmentParts parts) throws IOException;

  /**
   * What became of documents.
   *
   * @param known how many were there already, if that is told
   * @param refused those that can never be stored
   */
  record Arrived(int known, List<Refusal> refused) {}

  /**
   * A revision that can never be stored.
   *
   * @param missing attachments that stand for nothing, if it says which
   */
  record Refusal(String id, String error, String reason, List<String> missing) {
    static final String MISSING_STUB = "missing_stub";

    Refusal(String id, String error, String reason) {
      this(id, error, reason, List.of());
    }
  }

  interface AttachmentParts {
    /** Returns the next one; empty if there is none. The one before has been read to its end. */
    Optional<AttachmentPart> next() throws IOException;
  }

  /**
   * @param names that it may have; empty if it is the next one of the document
   */
  record AttachmentPart(Set<String> names, InputStream content) {}
}
