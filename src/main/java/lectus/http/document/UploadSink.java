package lectus.http.document;

import java.util.Optional;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.Md5;
import lectus.http.exchange.BodySink;

/**
 * A body that is one attachment.
 *
 * @param md5 that the client gives of the bytes as it sends them
 */
record UploadSink(AttachmentUpload upload, Optional<Md5> md5) implements BodySink<Attachment> {
  @Override
  public void take(byte[] bytes) {
    upload.write(bytes, 0, bytes.length);
  }

  @Override
  public long passingBytes() {
    return upload.heldBytes();
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
