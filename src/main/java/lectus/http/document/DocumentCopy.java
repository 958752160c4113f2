package lectus.http.document;

import java.util.Arrays;
import java.util.Optional;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseRequest;
import lectus.document.DocumentId;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusException;
import lectus.http.QueryParameters;
import lectus.http.RequestTarget;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Services.Documents;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * COPY of a document to the name in the header {@code Destination}. Source and target may each be a
 * local document.
 */
final class DocumentCopy {
  private final Documents documents;
  private final DocumentEditing writes;

  DocumentCopy(Documents documents, DocumentEditing writes) {
    this.documents = documents;
    this.writes = writes;
  }

  /**
   * The target's id and the revision that is replaced.
   *
   * @param rev unparsed, because a local document's has another form
   */
  private record Destination(String id, Optional<String> rev) {}

  /** Reads the source as JSON and returns its revision. */
  private interface Source {
    String read(JsonBuffer out);

    /** Returns the attachments of the revision that was read. */
    default AttachmentList attachments(String revision) {
      return AttachmentList.NONE;
    }
  }

  private record StoredSource(
      DocumentReader documents, DatabaseRequest database, String id, Optional<RevisionId> given)
      implements Source {
    @Override
    public String read(JsonBuffer out) {
      DocumentQuery options = given.map(DocumentQuery.DEFAULT::at).orElse(DocumentQuery.DEFAULT);
      return documents.read(database, id, options, out).toString();
    }

    @Override
    public AttachmentList attachments(String revision) {
      return documents.attachments().all(database, id, Optional.of(RevisionId.of(revision)));
    }
  }

  void copy(Exchange exchange, DatabaseRequest database, String source) {
    Optional<RevisionId> given = DocumentEditing.givenRevision(exchange);
    copy(exchange, database, source, new StoredSource(documents.reader(), database, source, given));
  }

  /** A local document has no other revisions to copy. */
  void copyLocal(Exchange exchange, DatabaseRequest database, String source) {
    if (DocumentEditing.namesRevision(exchange)) {
      throw LectusException.notFound("missing");
    }
    copy(exchange, database, source, out -> documents.local().read(database, source, out));
  }

  private void copy(Exchange exchange, DatabaseRequest database, String id, Source source) {
    Destination target = destination(exchange.header("Destination"));
    String location = PublicUrl.location(exchange, database.name().text(), target.id());
    writes.submit(
        exchange,
        database.name(),
        DocumentEditing.counted(exchange, () -> edit(id, source, target)),
        done -> WriteReply.of(done, 201, location));
  }

  private static Destination destination(String header) {
    if (header == null) {
      throw LectusException.badRequest("Destination header is mandatory for COPY.");
    }
    if (header.startsWith("http://") || header.startsWith("https://")) {
      throw LectusException.badRequest("Destination URL must be relative.");
    }
    int question = header.indexOf('?');
    int end = question < 0 ? header.length() : question;
    QueryParameters query =
        question < 0 ? QueryParameters.NONE : QueryParameters.parse(header.substring(question + 1));
    String id = DocumentId.check(RequestTarget.decode(header, 0, end), Integer.MAX_VALUE);
    return new Destination(id, query.text("rev"));
  }

  private Edit edit(String id, Source source, Destination target) {
    JsonBuffer json = new JsonBuffer(1_024);
    String rev = source.read(json);
    byte[] body = withoutIdentity(json, id, rev);
    NamedRevisions over = new NamedRevisions(target.rev(), Optional.empty());
    if (DocumentId.isLocal(target.id())) {
      return documents.parser().local(target.id(), over, body);
    }
    Edit edit = documents.parser().interactive(target.id(), over, body);
    return edit.attachments().all().isEmpty()
        ? edit
        : edit.withAttachments(AttachmentEdits.takenOver(source.attachments(rev)));
  }

  /** Returns the document without {@code _id} and {@code _rev}, which always come first. */
  private static byte[] withoutIdentity(JsonBuffer json, String id, String rev) {
    JsonBuffer head = new JsonBuffer(128);
    head.ascii("{\"_id\":").string(id).ascii(",\"_rev\":").string(rev);
    byte[] read = json.toBytes();
    int length = head.length();
    boolean others = read[length] == ',';
    byte[] rest = Arrays.copyOfRange(read, others ? length : length - 1, read.length);
    rest[0] = '{';
    return rest;
  }
}
