package lectus.http.document;

import lectus.attachment.ResumableUpload;
import lectus.attachment.UploadPiece;
import lectus.http.exchange.BodySink;

/** A body that is a piece of an attachment. What arrived of one that breaks off is kept. */
record PieceSink(UploadPiece piece) implements BodySink<ResumableUpload> {
  @Override
  public void take(byte[] bytes) {
    piece.write(bytes, 0, bytes.length);
  }

  @Override
  public ResumableUpload end() {
    return piece.finish();
  }

  @Override
  public void abandon() {
    piece.finish();
  }
}
