package lectus.http.document;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Optional;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.Md5;
import lectus.attachment.PieceIntake;
import lectus.attachment.ResumableUpload;
import lectus.database.DatabaseName;
import lectus.http.exchange.Exchange;

/**
 * Makes an attachment of the pieces that came, as if they came once more in one body. Other
 * requests take turns with its steps. It goes on if the client has left: one that did not wait long
 * enough finds the attachment later.
 */
final class UploadAssembly {
  private final Exchange exchange;
  private final PieceIntake uploads;
  private final DatabaseName database;
  private final ResumableUpload pieces;
  private final AttachmentUpload attachment;
  private final Promise<Void> promise = Promise.promise();
  private long chunk;

  UploadAssembly(
      Exchange exchange,
      PieceIntake uploads,
      DatabaseName database,
      ResumableUpload pieces,
      AttachmentUpload attachment) {
    this.exchange = exchange;
    this.uploads = uploads;
    this.database = database;
    this.pieces = pieces;
    this.attachment = attachment;
  }

  /**
   * @param md5 that the client gives of the whole
   */
  Future<Attachment> run(Optional<Md5> md5) {
    next();
    return promise
        .future()
        .compose(none -> exchange.work(() -> attachment.finish(md5, 0, Optional.empty())))
        .onFailure(why -> exchange.work(this::abandon));
  }

  private void next() {
    exchange.work(this::copy).onComplete(this::goOn, promise::tryFail);
  }

  private void goOn(boolean more) {
    if (more) {
      next();
    } else {
      promise.complete();
    }
  }

  private boolean copy() {
    List<byte[]> chunks = uploads.chunks(database, pieces, chunk);
    for (byte[] bytes : chunks) {
      attachment.write(bytes, 0, bytes.length);
    }
    chunk += chunks.size();
    return !chunks.isEmpty();
  }

  private Void abandon() {
    attachment.abandon();
    return null;
  }
}
