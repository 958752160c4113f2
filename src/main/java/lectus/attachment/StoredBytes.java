package lectus.attachment;

import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.database.DatabaseHandle;
import lectus.error.LectusException;
import lectus.store.Awaiting;

/**
 * The bytes of a content, a chunk at a time, each at its own read version. A content never changes,
 * and one that was swept and stored again meanwhile has the same bytes.
 */
public final class StoredBytes implements ByteSource {
  private static final byte[] NONE = new byte[0];

  private final Reads reads;
  private final ContentId id;
  private final long end;
  private long next;

  /** The content's row, once it was read. */
  private Optional<StoredContent> known = Optional.empty();

  /** Runs a read in a transaction of its own. */
  public interface Reads {
    byte[] read(BiFunction<ReadTransaction, DatabaseHandle, byte[]> body);
  }

  /**
   * @param from offset of the first byte
   * @param end offset behind the last byte
   */
  public StoredBytes(Reads reads, ContentId id, long from, long end) {
    this.reads = reads;
    this.id = id;
    this.next = from;
    this.end = end;
  }

  /**
   * @throws LectusException {@code not_found} if no document refers to the content any more, and it
   *     was swept
   */
  @Override
  public byte[] next() {
    if (next >= end) {
      return NONE;
    }
    byte[] bytes = reads.read(this::piece);
    next += bytes.length;
    return bytes;
  }

  /**
   * Returns what the next chunk has of the bytes. Its row says where the content was when it was
   * read first; it is read again only if the chunk is not there any more.
   */
  private byte[] piece(ReadTransaction tx, DatabaseHandle db) {
    byte[] piece = known.map(content -> piece(tx, db, content)).orElse(NONE);
    if (piece.length == 0) {
      known = Optional.of(content(tx, db));
      piece = piece(tx, db, known.get());
    }
    if (piece.length == 0) {
      throw new IllegalStateException("Bytes from " + next + " of " + id.hex() + " are missing");
    }
    return piece;
  }

  private StoredContent content(ReadTransaction tx, DatabaseHandle db) {
    return Awaiting.await(new ContentsSubspace(db.prefix()).get(tx, id))
        .orElseThrow(() -> LectusException.notFound("The attachment was removed meanwhile."));
  }

  /** Returns none if the chunk is not there. */
  private byte[] piece(ReadTransaction tx, DatabaseHandle db, StoredContent content) {
    long number = next / content.chunkBytes();
    byte[] chunk =
        Awaiting.await(new ChunksSubspace(db.prefix()).get(tx, content.upload(), number));
    if (chunk == null) {
      return NONE;
    }
    if (chunk.length != content.lengthOf(number)) {
      throw new IllegalStateException("Chunk " + number + " of " + id.hex() + " is damaged");
    }
    int from = (int) (next - number * content.chunkBytes());
    int to = (int) Math.min(chunk.length, end - number * content.chunkBytes());
    return from == 0 && to == chunk.length ? chunk : Arrays.copyOfRange(chunk, from, to);
  }
}
