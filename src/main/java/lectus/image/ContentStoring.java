package lectus.image;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentUpload;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.UnusedSubspace;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.image.ImageFrame.Content;
import lectus.store.Awaiting;

/** Stores a content of attachments of a database that is being restored, some chunks at a time. */
final class ContentStoring {
  private static final int CHUNKS_AT_ONCE = 8;

  private final HiddenDatabase database;
  private final Content content;
  private final UploadId upload = UploadId.random();
  private final ChunksSubspace chunks;
  private final List<byte[]> waiting = new ArrayList<>();
  private byte[] filling = new byte[0];
  private long stored;
  private long come;

  private ContentStoring(HiddenDatabase database, Content content) {
    this.database = database;
    this.content = content;
    this.chunks = new ChunksSubspace(database.db().prefix());
  }

  /** Returns empty if the content is there already. */
  static Optional<ContentStoring> begin(HiddenDatabase database, Content content) {
    ContentsSubspace contents = new ContentsSubspace(database.db().prefix());
    if (database.read(tx -> Awaiting.await(contents.get(tx, content.id()))).isPresent()) {
      return Optional.empty();
    }
    ContentStoring storing = new ContentStoring(database, content);
    if (content.length() == 0) {
      storing.finish();
      return Optional.empty();
    }
    return Optional.of(storing);
  }

  /** Takes the next bytes; the last ones finish it. */
  void take(byte[] bytes) {
    come += bytes.length;
    int at = 0;
    while (at < bytes.length) {
      int count = Math.min(bytes.length - at, ContentUpload.CHUNK_BYTES - filling.length);
      byte[] more = Arrays.copyOf(filling, filling.length + count);
      System.arraycopy(bytes, at, more, filling.length, count);
      filling = more;
      at += count;
      if (filling.length == ContentUpload.CHUNK_BYTES) {
        complete();
      }
    }
    if (come == content.length()) {
      if (filling.length > 0) {
        complete();
      }
      store();
      finish();
    }
  }

  private void complete() {
    waiting.add(filling);
    filling = new byte[0];
    if (waiting.size() == CHUNKS_AT_ONCE) {
      store();
    }
  }

  private void store() {
    long first = stored;
    database.write(
        tx -> {
          for (int i = 0; i < waiting.size(); i++) {
            chunks.put(tx, upload, first + i, waiting.get(i));
          }
        });
    stored += waiting.size();
    waiting.clear();
  }

  /** Nobody may refer to it any more, so the sweep looks. */
  private void finish() {
    StoredContent whole =
        new StoredContent(
            upload,
            content.length(),
            content.md5(),
            ContentUpload.CHUNK_BYTES,
            content.plainLength());
    byte[] prefix = database.db().prefix();
    database.write(
        tx -> {
          new ContentsSubspace(prefix).put(tx, content.id(), whole);
          new UnusedSubspace(prefix).put(tx, content.id(), Awaiting.await(tx.getReadVersion()));
        });
  }

  /** The content does not come to its end. */
  void abandon() {
    if (come < content.length()) {
      database.write(tx -> chunks.clear(tx, upload));
    }
  }
}
