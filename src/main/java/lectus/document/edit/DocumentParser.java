package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.edit.DocumentParser.DocumentReading.ParsedDocument;
import lectus.document.edit.DocumentParser.DocumentReading.UnreadableDocument;
import lectus.document.edit.SentJson.DataMarks;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;

/**
 * Parses documents as clients send them into edits that satisfy all limits, in one pass and without
 * a tree. Throws errors with CouchDB's names: {@code bad_request}, {@code illegal_docid}, {@code
 * doc_validation}, {@code document_too_large} (413), {@code attachment_too_large} (413).
 */
public final class DocumentParser {
  private static final int PLAIN_HASH_BYTES = 16;

  private final Supplier<DocumentLimits> limits;
  private final DataMarks marks;

  public DocumentParser(DocumentLimits limits) {
    this(() -> limits);
  }

  /**
   * @param limits may change at any time; never waits
   */
  public DocumentParser(Supplier<DocumentLimits> limits) {
    this(limits, DataMarks.NONE);
  }

  private DocumentParser(Supplier<DocumentLimits> limits, DataMarks marks) {
    this.limits = limits;
    this.marks = marks;
  }

  /** Returns a parser of the JSON of one request, which knows its marks. */
  public DocumentParser of(SentJson json) {
    DocumentLimits now = limits.get();
    return new DocumentParser(() -> now, json.marks());
  }

  /**
   * Parses a body that is one document.
   *
   * @param id the id to write; an {@code _id} in the body is ignored
   * @param beside the base revision as given outside the body
   */
  public InteractiveEdit interactive(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.get().idBytes());
    InteractiveEdit edit = whole(json, Optional.of(checked)).interactive(checked, beside);
    // The exploder has checked the body: it knew everything in the keys.
    checkFits(edit.attachments());
    return edit;
  }

  /** Parses a body that is one document, to be stored under its {@code _id} or a new id. */
  public Edit created(byte[] json, Supplier<String> newId) {
    ParsedDocument document = whole(json, Optional.empty());
    // A new id has no earlier revision, whatever the document says.
    return document.identity().id().isPresent()
        ? edit(document, true, newId)
        : fitting(document.first(newId.get()));
  }

  /**
   * Parses a body that is one local document.
   *
   * @param id with its {@code _local/}; an {@code _id} in the body is ignored
   * @param beside the revision as given outside the body
   */
  public LocalEdit local(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.get().idBytes());
    return fitting(whole(json, Optional.of(checked)).local(checked, beside));
  }

  /** Parses a body that is one local document, which has to name its revision. */
  public LocalEdit replicatedLocal(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.get().idBytes());
    return fitting(whole(json, Optional.of(checked)).replicatedLocal(checked, beside));
  }

  /**
   * Parses a body that is one replicated document.
   *
   * @param beside its revision as given outside the body
   */
  public ReplicatedEdit replicated(String id, NamedRevisions beside, byte[] json) {
    String checked = DocumentId.check(id, limits.get().idBytes());
    return fitting(whole(json, Optional.of(checked)).replicated(checked, beside));
  }

  /**
   * Returns a revision that is stored in another database, if it could be sent to this one.
   *
   * @throws LectusException as for one that a client sends
   */
  public ReplicatedEdit stored(ReplicatedEdit edit) {
    DocumentId.check(edit.id(), limits.get().idBytes());
    return fitting(edit);
  }

  /**
   * Reads the document whose first token is the input's current one. The input then stands on the
   * document's last token.
   *
   * @throws LectusException {@code bad_request}: not an object, or not JSON
   */
  DocumentReading element(JsonInput input) {
    return object(input, Optional.empty());
  }

  /**
   * Returns the edit that a document of a bulk request asks for. A document without {@code _id}
   * gets a new id.
   */
  Edit edit(ParsedDocument document, boolean newEdits, Supplier<String> newId) {
    document.attachments().requireNothingFollows();
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

  /**
   * Returns the edit with another body.
   *
   * @param json a document; its reserved members are ignored
   */
  public Edit rewritten(Edit edit, byte[] json) {
    return fitting(edit.withBody(whole(json, Optional.of(edit.id())).body()));
  }

  private Edit fitting(Edit edit) {
    if (edit instanceof InteractiveEdit interactive) {
      return fitting(interactive);
    }
    return edit instanceof ReplicatedEdit replicated
        ? fitting(replicated)
        : fitting((LocalEdit) edit);
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
    requireObject(input);
    int keyOverhead = DocumentsSubspace.keyOverhead(knownId.orElse(""), PLAIN_HASH_BYTES);
    JsonExploder exploder =
        new JsonExploder(input, limits.get().json().withKeyOverhead(keyOverhead));
    return new DocumentMembers(input, limits.get().idBytes(), marks, exploder).read();
  }

  /**
   * @throws LectusException {@code bad_request}: the input's current token begins no object
   */
  static void requireObject(JsonInput input) {
    if (input.token() != JsonToken.START_OBJECT) {
      throw LectusException.badRequest("Document must be a JSON object");
    }
  }

  private InteractiveEdit fitting(InteractiveEdit edit) {
    checkFits(edit.attachments());
    checkFits(edit.body(), DocumentsSubspace.keyOverhead(edit.id(), PLAIN_HASH_BYTES));
    return edit;
  }

  private ReplicatedEdit fitting(ReplicatedEdit edit) {
    checkFits(edit.attachments());
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

  private void checkFits(AttachmentEdits attachments) {
    if (!attachments.all().isEmpty()) {
      attachments.requireNoneLongerThan(limits.get().attachments().mostBytes());
    }
  }

  /** Repeats the exploder's checks now that everything in the keys is known. */
  private void checkFits(ExplodedBody body, int keyOverhead) {
    body.requireFit(limits.get().json().withKeyOverhead(keyOverhead));
  }

  /** The result of reading one document to its end. */
  sealed interface DocumentReading permits ParsedDocument, UnreadableDocument {
    DocumentIdentity identity();

    /** Returns about how many bytes of memory it holds until it is written. */
    long memoryBytes();

    /**
     * @throws LectusException what is wrong with the document
     */
    ParsedDocument parsed();

    /**
     * A document that cannot be stored. Only its identity is kept.
     *
     * @param error the first fault found
     */
    record UnreadableDocument(DocumentIdentity identity, LectusError error)
        implements DocumentReading {
      /** The text is held as parsed, in the answer, and in the answer's bytes. */
      private static final int COPIES = 4;

      @Override
      public long memoryBytes() {
        return ParsedDocument.MEMORY_BYTES + COPIES * identity.textLength();
      }

      @Override
      public ParsedDocument parsed() {
        throw new LectusException(error);
      }
    }

    /** A document as a client sent it, before the kind of edit is known. */
    record ParsedDocument(
        DocumentIdentity identity, boolean deleted, ExplodedBody body, AttachmentEdits attachments)
        implements DocumentReading {

      /** Memory of the document, its edit and its outcome, without the leaves, in bytes. */
      static final int MEMORY_BYTES = 512;

      @Override
      public long memoryBytes() {
        return MEMORY_BYTES + body.memoryBytes() + attachments.memoryBytes();
      }

      @Override
      public ParsedDocument parsed() {
        return this;
      }

      /** Returns an edit without a base, whatever the document says. */
      InteractiveEdit first(String id) {
        return InteractiveEdit.of(id, Optional.empty(), deleted, body, attachments);
      }

      /**
       * @param beside the base revision as given outside the body
       */
      InteractiveEdit interactive(String id, NamedRevisions beside) {
        Optional<RevisionId> own = identity.path().map(RevisionPath::leaf);
        return InteractiveEdit.of(
            id, beside.agreed(own, RevisionId::of), deleted, body, attachments);
      }

      /**
       * @param beside the revision as given outside the body
       */
      ReplicatedEdit replicated(String id, NamedRevisions beside) {
        Optional<RevisionPath> own = identity.path();
        Optional<RevisionId> leaf = beside.agreed(own.map(RevisionPath::leaf), RevisionId::of);
        RevisionPath path =
            own.or(() -> leaf.map(RevisionPath::of)).orElseThrow(ParsedDocument::needsRevision);
        return new ReplicatedEdit(id, path, deleted, body).withAttachments(attachments);
      }

      /**
       * @param beside the revision as given outside the body
       */
      LocalEdit local(String id, NamedRevisions beside) {
        Optional<String> given = beside.agreed(identity.localRevision(), text -> text);
        return LocalEdit.over(given.orElse(LocalEdit.NO_REVISION), id, deleted, body);
      }

      /** Refuses a document without a revision, as for replicated documents. */
      LocalEdit replicatedLocal(String id, NamedRevisions beside) {
        if (beside.isEmpty() && !identity.namesRevision()) {
          throw needsRevision();
        }
        return local(id, beside);
      }

      static LectusException needsRevision() {
        return LectusException.badRequest(
            "When `new_edits: false`, the document needs `_rev` or `_revisions` specified");
      }
    }

    /**
     * The members by which a document identifies itself, as sent.
     *
     * @param revisions its {@code _revisions}, which take precedence over {@code _rev}
     */
    record DocumentIdentity(
        Optional<String> id, Optional<String> rev, Optional<WrittenRevisions> revisions) {

      /** Returns the number of characters that the client sent. */
      int textLength() {
        return id.map(String::length).orElse(0) + rev.map(String::length).orElse(0);
      }

      boolean namesRevision() {
        return rev.isPresent() || listed().isPresent();
      }

      /**
       * @throws LectusException {@code bad_request}, {@code doc_validation}
       */
      Optional<RevisionPath> path() {
        return revisions
            .flatMap(WrittenRevisions::path)
            .or(() -> rev.map(RevisionId::of).map(RevisionPath::of));
      }

      /** Returns the revision; empty if there is none or it is malformed. */
      Optional<RevisionId> revision() {
        return listed().or(() -> rev.flatMap(RevisionId::parse));
      }

      /** Returns the revision of a local document, such as {@code 0-3}, still unchecked. */
      Optional<String> localRevision() {
        return listed().map(RevisionId::toString).or(() -> rev);
      }

      private Optional<RevisionId> listed() {
        return revisions.flatMap(WrittenRevisions::leaf);
      }

      /**
       * A document's {@code _revisions}, as sent. Which positions are legal depends on the id,
       * which may come later: local documents start at 0.
       *
       * @param ids newest first
       */
      record WrittenRevisions(long start, List<RevisionHash> ids) {

        /** Returns the revision itself; empty if none is listed. */
        Optional<RevisionId> leaf() {
          return ids.isEmpty() ? Optional.empty() : Optional.of(new RevisionId(start, ids.get(0)));
        }

        /**
         * @throws LectusException {@code doc_validation}: more revisions than positions
         */
        Optional<RevisionPath> path() {
          if (!ids.isEmpty() && start < ids.size()) {
            throw LectusException.badRequest(
                "doc_validation", "_revisions.start is less than the number of _revisions.ids.");
          }
          return leaf().map(leaf -> new RevisionPath(leaf, ids.subList(1, ids.size())));
        }
      }
    }
  }

  /**
   * The limits on a document.
   *
   * @param idBytes maximum length of an id, in bytes of UTF-8
   * @param json limits on the body
   * @param attachments limits on attachments
   */
  public record DocumentLimits(int idBytes, JsonLimits json, AttachmentSettings attachments) {
    public static final DocumentLimits DEFAULT =
        new DocumentLimits(
            DocumentId.DEFAULT_MAX_BYTES, JsonLimits.couchDb(), AttachmentSettings.DEFAULT);
  }
}
