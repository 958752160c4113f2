package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import java.util.Optional;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.PieceIntake;
import lectus.attachment.ResumableUpload;
import lectus.attachment.UploadName;
import lectus.attachment.UploadPiece;
import lectus.attachment.UploadTarget;
import lectus.database.AskedDatabase;
import lectus.document.edit.AttachmentName;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.revision.RevisionId;

/**
 * Attachments that come in pieces: requests with {@code ?upload=ID}. Any server of the store takes
 * any piece. The document is edited when the last byte has come.
 */
final class ResumableEditing {
  static final String PARAMETER = "upload";

  private final PieceIntake uploads;
  private final AttachmentIntake intake;
  private final AttachmentEditing editing;
  private final DocumentEditing writes;

  ResumableEditing(AttachmentIntake intake, AttachmentEditing editing, DocumentEditing writes) {
    this.uploads = intake.contents().resumables();
    this.intake = intake;
    this.editing = editing;
    this.writes = writes;
  }

  /** The upload that a request names, and the attachment that it is for. */
  private record Named(AskedDatabase database, String id, String name, UploadName upload) {
    static Named of(Exchange exchange, AskedDatabase database, String id, String name) {
      String text = exchange.query().text(PARAMETER).orElse("");
      return new Named(
          database, id, AttachmentName.check(name), UploadName.of(exchange.user().name(), text));
    }

    UploadTarget target() {
      return UploadTarget.of(id, name);
    }
  }

  /** Says how far an upload is. */
  void get(Exchange exchange, AskedDatabase database, String id, String name) {
    Named named = Named.of(exchange, database, id, name);
    exchange.answer(() -> received(200, find(named)));
  }

  void delete(Exchange exchange, AskedDatabase database, String id, String name) {
    Named named = Named.of(exchange, database, id, name);
    exchange.answer(
        () -> {
          uploads.clear(database.name(), named.upload(), find(named));
          return Reply.ok(200);
        });
  }

  private ResumableUpload find(Named named) {
    return uploads.find(named.database(), named.upload(), named.target());
  }

  void put(Exchange exchange, AskedDatabase database, String id, String name) {
    Named named = Named.of(exchange, database, id, name);
    AttachmentEditing.Sent sent = AttachmentEditing.sent(exchange, name);
    Optional<RevisionId> base = DocumentEditing.givenRevision(exchange);
    ContentRange range = ContentRange.of(exchange.header(HttpHeaders.CONTENT_RANGE));
    check(exchange, name, range);
    exchange.unread().keepForBody();
    exchange
        .work(() -> editing.document(database, id, base))
        .compose(edit -> exchange.work(() -> begin(named, range)).map(it -> new Begun(edit, it)))
        .onFailure(refused -> FlowingBody.decline(exchange))
        .compose(begun -> read(exchange, range, begun))
        .onComplete(
            arrived -> exchange.guarded(() -> answer(exchange, named, sent, arrived)),
            exchange::fail);
  }

  private record Begun(Edit edit, UploadPiece piece) {}

  private record Arrived(Edit edit, ResumableUpload upload) {}

  private void check(Exchange exchange, String name, ContentRange range) {
    if (range.total() > intake.mostBytes()) {
      throw AttachmentUpload.tooLarge(name);
    }
    long announced = FlowingBody.announced(exchange);
    if (announced >= 0 && announced != range.length()) {
      throw LectusException.badRequest("Content-Range and Content-Length do not agree.");
    }
  }

  /** A request without bytes can only finish an upload that is there. */
  private UploadPiece begin(Named named, ContentRange range) {
    if (range.length() == 0) {
      find(named);
    }
    return uploads.piece(
        named.database().name(), named.upload(), named.target(), range.from(), range.total());
  }

  private Future<Arrived> read(Exchange exchange, ContentRange range, Begun begun) {
    return FlowingBody.read(
            exchange, range.length(), UploadPiece.MOST_BYTES, new PieceSink(begun.piece()))
        .map(upload -> new Arrived(begun.edit(), upload));
  }

  private void answer(
      Exchange exchange, Named named, AttachmentEditing.Sent sent, Arrived arrived) {
    if (!arrived.upload().isComplete()) {
      exchange.reply(received(202, arrived.upload()));
      return;
    }
    writes.submitThen(
        exchange,
        named.database().name(),
        assembled(exchange, named, sent, arrived),
        outcome -> stored(exchange, named, arrived.upload(), outcome));
  }

  private Future<Edit> assembled(
      Exchange exchange, Named named, AttachmentEditing.Sent sent, Arrived arrived) {
    exchange.held().bodyGrows((int) AttachmentIntake.UPLOAD_BYTES);
    return exchange
        .work(() -> touched(named, arrived.upload()))
        .compose(
            upload ->
                new UploadAssembly(
                        exchange,
                        uploads,
                        named.database().name(),
                        upload,
                        editing.begin(named.database(), sent))
                    .run(sent.md5()))
        .map(stored -> AttachmentEditing.with(arrived.edit(), stored));
  }

  private ResumableUpload touched(Named named, ResumableUpload upload) {
    uploads.touch(named.database().name(), named.upload(), upload);
    return upload;
  }

  /** What came is kept after a failure: the client may send the current revision. */
  private Future<Reply> stored(
      Exchange exchange, Named named, ResumableUpload upload, EditOutcome outcome) {
    Reply reply =
        AttachmentEditing.stored(exchange, named.database(), named.id(), named.name(), outcome);
    if (outcome instanceof EditOutcome.Failed) {
      return Future.succeededFuture(reply);
    }
    return exchange
        .<Void>work(
            () -> {
              uploads.clear(named.database().name(), named.upload(), upload);
              return null;
            })
        .transform(cleared -> Future.succeededFuture(reply));
  }

  private static Reply received(int status, ResumableUpload upload) {
    JsonBuffer json = new JsonBuffer(96).ascii("{\"ok\":true,\"received\":");
    json.ascii(Long.toString(upload.received()));
    json.ascii(",\"total\":").ascii(Long.toString(upload.total())).octet('}');
    return Reply.json(status, json).withReceived(upload.received());
  }
}
