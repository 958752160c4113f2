package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.document.DocumentId;
import lectus.document.body.DocumentsSubspace;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.revision.RevisionHash;

/**
 * Reads documents as clients send them, in one pass and without a tree, into edits that keep to all
 * limits. What is wrong is thrown with CouchDB's error names: {@code bad_request}, {@code
 * illegal_docid}, {@code doc_validation}, {@code document_too_large} (413), {@code not_implemented}
 * (501) for attachments.
 */
public final class DocumentParser {
  private static final int PLAIN_HASH_BYTES = 16;

  private final DocumentLimits limits;

  public DocumentParser(DocumentLimits limits) {
    this.limits = limits;
  }

  /**
   * One document as a whole body.
   *
   * @param id where the document is to be written; an {@code _id} in the body does not count
   * @param beside the base as the request has it beside the body
   */
  public DocumentEdit interactive(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.idBytes());
    return fitting(whole(json, Optional.of(checked)).interactive(checked, beside));
  }

  /** One document as a whole body, under its {@code _id} or a new one. */
  public Edit created(byte[] json, Supplier<String> newId) {
    ParsedDocument document = whole(json, Optional.empty());
    // A new id has no revision before its first, whatever the document says.
    return document.identity().id().isPresent()
        ? edit(document, true, newId)
        : fitting(document.first(newId.get()));
  }

  /**
   * One local document as a whole body.
   *
   * @param id with its {@code _local/}; an {@code _id} in the body does not count
   * @param beside the revision that the request has beside the body
   */
  public LocalEdit local(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.idBytes());
    return fitting(whole(json, Optional.of(checked)).local(checked, beside));
  }

  /** One local document as a whole body, which has to name its revision. */
  public LocalEdit replicatedLocal(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.idBytes());
    return fitting(whole(json, Optional.of(checked)).replicatedLocal(checked, beside));
  }

  /**
   * One replicated document as a whole body.
   *
   * @param beside its revision as the request has it beside the body
   */
  public ReplicatedEdit replicated(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.idBytes());
    return fitting(whole(json, Optional.of(checked)).replicated(checked, beside));
  }

  /**
   * The document whose first token is the input's current one; the input stands on its last.
   *
   * @throws LectusException {@code bad_request}: no object, or no JSON
   */
  DocumentReading element(JsonInput input) {
    return object(input, Optional.empty());
  }

  /**
   * A document of a bulk request as the edit that it is; one without {@code _id} gets a new one.
   */
  Edit edit(ParsedDocument document, boolean newEdits, Supplier<String> newId) {
    String id = document.identity().id().orElseGet(newId);
    if (DocumentId.isLocal(id)) {
      return fitting(
          newEdits
              ? document.local(id, NamedRevisions.NONE)
              : document.replicatedLocal(id, NamedRevisions.NONE));
    }
    return newEdits
        ? fitting(document.interactive(id, NamedRevisions.NONE))
        : fitting(document.replicated(id, NamedRevisions.NONE));
  }

  private ParsedDocument whole(byte[] json, Optional<String> id) {
    try (JsonInput input = JsonInput.of(json)) {
      input.next();
      DocumentReading reading = object(input, id);
      input.expectEnd();
      return reading.parsed();
    }
  }

  private DocumentReading object(JsonInput input, Optional<String> knownId) {
    if (input.token() != JsonToken.START_OBJECT) {
      throw LectusException.badRequest("Document must be a JSON object");
    }
    int keyOverhead = DocumentsSubspace.keyOverhead(knownId.orElse(""), PLAIN_HASH_BYTES);
    JsonExploder exploder = new JsonExploder(input, limits.json().withKeyOverhead(keyOverhead));
    return new DocumentMembers(input, new ReservedMembers(limits.idBytes()), exploder).read();
  }

  private DocumentEdit fitting(DocumentEdit edit) {
    checkFits(edit.body(), DocumentsSubspace.keyOverhead(edit.id(), PLAIN_HASH_BYTES));
    return edit;
  }

  private ReplicatedEdit fitting(ReplicatedEdit edit) {
    RevisionHash hash = edit.path().leaf().hash();
    checkFits(
        edit.body(),
        DocumentsSubspace.keyOverhead(edit.id(), Math.max(PLAIN_HASH_BYTES, hash.bytes().length)));
    return edit;
  }

  private LocalEdit fitting(LocalEdit edit) {
    checkFits(edit.body(), DocumentsSubspace.keyOverhead(edit.id(), 0));
    return edit;
  }

  /** The exploder's limits again, now that all that is in the keys is known. */
  private void checkFits(ExplodedBody body, int keyOverhead) {
    body.requireFit(limits.json().withKeyOverhead(keyOverhead));
  }
}
