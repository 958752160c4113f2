package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.Md5;
import lectus.database.DatabaseRequest;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.AttachmentName;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.EditedAttachment;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.AttachmentReader;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Services.Documents;
import lectus.http.limits.BodyMemory;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * PUT and DELETE of an attachment: an edit of its document that changes nothing else. The bytes are
 * stored while they arrive, the document is edited when they are there.
 */
final class AttachmentEditing {
  private static final String UNKNOWN_TYPE = "application/octet-stream";
  private static final int TYPICAL_BYTES = 1_024;

  private final DocumentReader documents;
  private final AttachmentReader attachments;
  private final AttachmentIntake intake;
  private final DocumentParser parser;
  private final DocumentEditing writes;

  AttachmentEditing(Documents documents, DocumentEditing writes) {
    this.documents = documents.reader();
    this.attachments = documents.reader().attachments();
    this.intake = documents.attachments();
    this.parser = documents.parser();
    this.writes = writes;
  }

  /** The attachment that a request brings. */
  private record Sent(String name, String type, boolean gzipped, Optional<Md5> md5) {}

  void put(Exchange exchange, DatabaseRequest database, String id, String name) {
    Sent sent = sent(exchange, name);
    Optional<RevisionId> base = DocumentEditing.givenRevision(exchange);
    if (FlowingBody.announced(exchange) > intake.mostBytes()) {
      FlowingBody.decline(exchange);
      throw AttachmentUpload.tooLarge(name);
    }
    exchange.keepUnread();
    Future<Edit> edited =
        DocumentEditing.counted(exchange, () -> document(database, id, base))
            .onFailure(refused -> FlowingBody.decline(exchange))
            .compose(
                edit ->
                    FlowingBody.read(
                            exchange,
                            AttachmentIntake.MIN_BYTES,
                            new UploadSink(begin(database, sent), sent.md5()))
                        .map(stored -> with(edit, stored)));
    writes.submit(
        exchange, database.name(), edited, done -> stored(exchange, database, id, name, done));
  }

  private AttachmentUpload begin(DatabaseRequest database, Sent sent) {
    return intake.begin(database.name(), sent.name(), sent.type(), sent.gzipped());
  }

  private static Sent sent(Exchange exchange, String name) {
    String type = exchange.header(HttpHeaders.CONTENT_TYPE);
    String encoding = exchange.header(HttpHeaders.CONTENT_ENCODING);
    String bare = encoding == null ? "identity" : encoding.strip();
    boolean gzipped = bare.equalsIgnoreCase("gzip");
    if (!gzipped && !bare.equalsIgnoreCase("identity")) {
      throw new LectusException(
          new LectusError.UnsupportedMediaType(
              "Only gzip and identity content-encodings are supported"));
    }
    return new Sent(
        AttachmentName.check(name),
        type == null ? UNKNOWN_TYPE : AttachmentName.checkType(type),
        gzipped,
        Optional.ofNullable(exchange.header("Content-MD5")).flatMap(Md5::ofBase64));
  }

  /** POST of a browser's form with files for a document. */
  void post(Exchange exchange, DatabaseRequest database, String id) {
    FormUpload.check(exchange, id);
    FlowingBody.requireShort(exchange);
    FormUpload form =
        new FormUpload(
            exchange.header(HttpHeaders.CONTENT_TYPE),
            intake,
            database.name(),
            FlowingBody.mostBytes(exchange));
    writes.submit(
        exchange,
        database.name(),
        FlowingBody.read(exchange, AttachmentIntake.MIN_BYTES_COMPRESSED, form)
            .compose(
                sent ->
                    DocumentEditing.counted(
                        exchange, () -> with(edit(database, id, sent), sent.files()))),
        done -> WriteReply.of(done, 201, null));
  }

  /** As in CouchDB, a form with a document replaces the document, one without keeps it. */
  private Edit edit(DatabaseRequest database, String id, FormUpload.Form form) {
    if (form.document().isPresent()) {
      return parser.interactive(id, NamedRevisions.NONE, form.document().get());
    }
    RevisionId base =
        form.revision()
            .map(RevisionId::of)
            .orElseThrow(() -> LectusException.badRequest("The form needs _rev or _doc."));
    return document(database, id, Optional.of(base));
  }

  private static Edit with(Edit edit, List<Attachment> files) {
    Edit whole = edit;
    for (Attachment file : files) {
      whole = with(whole, file);
    }
    return whole;
  }

  void delete(Exchange exchange, DatabaseRequest database, String id, String name) {
    AttachmentName.check(name);
    Optional<RevisionId> base = DocumentEditing.givenRevision(exchange);
    writes.submit(
        exchange,
        database.name(),
        DocumentEditing.counted(exchange, () -> without(database, id, base, name)),
        done -> WriteReply.of(done, 200, null));
  }

  /**
   * As in CouchDB, what is not there is missed before a missing revision is, but a revision that
   * was replaced is a conflict.
   */
  private Edit without(
      DatabaseRequest database, String id, Optional<RevisionId> base, String name) {
    Optional<Edit> edit = base.map(given -> document(database, id, base));
    attachments.find(database, id, base, false, name);
    return edit.map(it -> it.withAttachments(new AttachmentEdits(others(it, name))))
        .orElseThrow(() -> new LectusException(new LectusError.Conflict()));
  }

  /**
   * Returns an edit that changes nothing, or a new document.
   *
   * @throws LectusException 409: the revision is no leaf
   */
  private Edit document(DatabaseRequest database, String id, Optional<RevisionId> base) {
    if (base.isEmpty()) {
      requireNew(database, id);
      return parser.interactive(id, NamedRevisions.NONE, new byte[] {'{', '}'});
    }
    JsonBuffer json = new JsonBuffer(TYPICAL_BYTES);
    try {
      documents.read(database, id, DocumentQuery.DEFAULT.at(base.get()), json);
    } catch (LectusException missing) {
      throw isAbsence(missing) ? notAt(base.get(), database, id) : missing;
    }
    return parser.interactive(
        id,
        new NamedRevisions(Optional.of(base.get().toString()), Optional.empty()),
        json.toBytes());
  }

  private void requireNew(DatabaseRequest database, String id) {
    try {
      documents.currentRevision(database, id);
    } catch (LectusException absent) {
      if (isAbsence(absent)) {
        return;
      }
      throw absent;
    }
    throw new LectusException(new LectusError.Conflict());
  }

  /** As in CouchDB, a revision that was replaced is a conflict, and one that never was is not. */
  private LectusException notAt(RevisionId base, DatabaseRequest database, String id) {
    return new LectusException(
        documents.isKnown(database, id, base)
            ? new LectusError.Conflict()
            : new LectusError.MissingRevision());
  }

  /** A database that does not exist is no absence of a document. */
  private static boolean isAbsence(LectusException failure) {
    return failure.error() instanceof LectusError.NotFound missing
        && (missing.reason().equals("missing") || missing.reason().equals("deleted"));
  }

  private static Edit with(Edit edit, Attachment stored) {
    List<EditedAttachment> all = new ArrayList<>();
    all.add(new EditedAttachment.Ready(stored, true));
    all.addAll(others(edit, stored.name()));
    return edit.withAttachments(new AttachmentEdits(all));
  }

  private static List<EditedAttachment> others(Edit edit, String name) {
    return edit.attachments().all().stream().filter(it -> !it.name().equals(name)).toList();
  }

  private static Reply stored(
      Exchange exchange, DatabaseRequest database, String id, String name, EditOutcome outcome) {
    Reply reply = WriteReply.of(outcome, 201, null);
    return reply.status() == 201
        ? reply.with(
            Headers.LOCATION, PublicUrl.location(exchange, database.name().text(), id, name))
        : reply;
  }

  /**
   * A body that is one attachment.
   *
   * @param md5 that the client gives of the bytes as it sends them
   */
  private record UploadSink(AttachmentUpload upload, Optional<Md5> md5)
      implements BodySink<Attachment> {
    @Override
    public void take(byte[] bytes) {
      upload.write(bytes, 0, bytes.length);
    }

    @Override
    public Held held() {
      return new Held(0, BodyMemory.UNKNOWN, upload.heldBytes());
    }

    @Override
    public long ownBytes() {
      return upload.compressorBytes();
    }

    @Override
    public void relieve() {
      upload.relieve();
    }

    @Override
    public Attachment end() {
      return upload.finish(md5, 0, Optional.empty());
    }

    @Override
    public void abandon() {
      upload.abandon();
    }
  }
}
