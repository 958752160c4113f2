package lectus.attachment;

import java.util.ArrayList;
import java.util.List;
import lectus.database.DatabaseName;
import lectus.error.LectusException;

/**
 * Stores one piece of an attachment while it arrives. What has arrived counts, even if the rest
 * does not come. Its methods wait for the store. Not thread-safe.
 */
public final class UploadPiece {
  /** Memory of a piece at most: the chunks of a transaction, and one that fills. */
  public static final long MOST_BYTES =
      (ContentUpload.CHUNKS_AT_ONCE + 1L) * ContentUpload.CHUNK_BYTES;

  private final PieceIntake uploads;
  private final DatabaseName database;
  private final UploadName name;
  private final ChunkBuffer filling = new ChunkBuffer(ContentUpload.CHUNK_BYTES);
  private final List<byte[]> complete = new ArrayList<>(ContentUpload.CHUNKS_AT_ONCE);
  private ResumableUpload stored;
  private long arrived;

  /**
   * @param tail the bytes of a last chunk that is not full
   */
  UploadPiece(
      PieceIntake uploads,
      DatabaseName database,
      UploadName name,
      ResumableUpload stored,
      byte[] tail) {
    this.uploads = uploads;
    this.database = database;
    this.name = name;
    this.stored = stored;
    this.arrived = stored.received();
    filling.take(tail, 0, tail.length);
  }

  /**
   * Takes the next bytes.
   *
   * @throws LectusException as {@link PieceIntake#store}
   */
  public void write(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      int taken = filling.take(bytes, at, to);
      at += taken;
      arrived += taken;
      if (filling.isFull()) {
        complete.add(filling.taken());
      }
      if (complete.size() == ContentUpload.CHUNKS_AT_ONCE) {
        store();
      }
    }
  }

  /**
   * Stores the rest, also that of a piece that broke off.
   *
   * @throws LectusException as {@link PieceIntake#store}
   */
  public ResumableUpload finish() {
    if (arrived > stored.received()) {
      if (!filling.isEmpty()) {
        complete.add(filling.taken());
      }
      store();
    }
    return stored;
  }

  private void store() {
    stored = uploads.store(database, name, stored, complete, arrived);
    complete.clear();
  }
}
