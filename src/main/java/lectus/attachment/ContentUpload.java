package lectus.attachment;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;
import lectus.store.TransactionRunner.CommitResult;
import lectus.store.TransactionRunner.PendingTransaction;

/**
 * Stores one content while it arrives: chunk after chunk, several in a transaction, the next ones
 * while the commit before is on its way. The content can be referred to when it is finished, and
 * not before. What an upload leaves that is never finished is swept. Its methods wait for the
 * store. Not thread-safe.
 */
public final class ContentUpload {
  /** Length of a chunk: below the store's limit of 100 000 bytes for a value. */
  public static final int CHUNK_BYTES = 90_000;

  /** Chunks of one transaction. */
  static final int CHUNKS_AT_ONCE = 8;

  /** Memory with which an upload goes on: a chunk that fills, and one on its way. */
  static final long MIN_BYTES = 2L * CHUNK_BYTES;

  /** After this many chunks that are read again, the sweep is told that the upload goes on. */
  private static final int CHUNKS_OF_TOUCH = 16 * CHUNKS_AT_ONCE;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseName database;
  private final UploadId upload = UploadId.random();
  private final MessageDigest sha256 = Digests.sha256();
  private final MessageDigest md5 = Digests.md5();
  private final ChunkBuffer filling = new ChunkBuffer(CHUNK_BYTES);
  private List<byte[]> complete = new ArrayList<>(CHUNKS_AT_ONCE);
  private Optional<PendingTransaction<CommitResult<InstanceId>>> commit = Optional.empty();
  private Optional<InstanceId> instance = Optional.empty();
  private int committing;
  private long chunks;
  private long length;
  private boolean isFinishing;

  ContentUpload(Catalogue catalogue, TransactionRunner transactions, DatabaseName database) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.database = database;
  }

  /** Returns how many bytes it has in memory. */
  public long heldBytes() {
    return (long) (complete.size() + committing) * CHUNK_BYTES + filling.capacity();
  }

  /**
   * Stores all chunks that are full, so that it has at most one in memory.
   *
   * @throws LectusException as {@link #write}
   */
  public void relieve() {
    if (!complete.isEmpty()) {
      store();
    }
    finishCommit();
  }

  /**
   * Takes the next bytes.
   *
   * @throws LectusException {@code not_found} if the database is gone; Unavailable if the upload
   *     paused for so long that it was swept, or the store answers no commit in time
   */
  public void write(byte[] bytes, int from, int to) {
    sha256.update(bytes, from, to - from);
    md5.update(bytes, from, to - from);
    length += to - from;
    int at = from;
    while (at < to) {
      at += filling.take(bytes, at, to);
      if (filling.isFull()) {
        complete.add(filling.taken());
      }
      if (complete.size() == CHUNKS_AT_ONCE) {
        store();
      }
    }
  }

  /**
   * Stores the rest. If the content is there already, what this upload stored of it is cleared.
   *
   * @param plainLength as in {@link StoredContent}
   * @throws LectusException as {@link #write}
   */
  public Content finish(Optional<Long> plainLength) {
    isFinishing = true;
    finishCommit();
    if (!filling.isEmpty()) {
      complete.add(filling.taken());
    }
    ContentId id = ContentId.of(sha256.digest());
    StoredContent content =
        new StoredContent(upload, length, Md5.of(md5.digest()), CHUNK_BYTES, plainLength);
    transactions.write(tx -> finish(tx, current(tx), id, content));
    return new Content(id, length, content.md5());
  }

  private void finish(Transaction tx, DatabaseHandle db, ContentId id, StoredContent content) {
    requireUnswept(tx, db);
    ContentsSubspace contents = new ContentsSubspace(db.prefix());
    Optional<StoredContent> known = Awaiting.await(contents.get(tx, id));
    if (known.isEmpty()) {
      putChunks(tx, db, chunks, complete);
      contents.put(tx, id, content);
    } else {
      if (known.get().plainLength().isEmpty() && content.plainLength().isPresent()) {
        contents.put(tx, id, known.get().withPlainLength(content.plainLength()));
      }
      if (chunks > 0) {
        new ChunksSubspace(db.prefix()).clear(tx, upload);
      }
    }
    if (chunks > 0) {
      new UploadsSubspace(db.prefix()).clear(tx, upload);
    }
    new UnusedSubspace(db.prefix()).put(tx, id, Awaiting.await(tx.getReadVersion()));
  }

  /**
   * Stores the rest, and returns what has come, from its first byte on. Nothing more can be written
   * or finished: the upload is abandoned when nobody reads it any more.
   *
   * @throws LectusException as {@link #write}
   */
  public ByteSource reread() {
    if (!filling.isEmpty()) {
      complete.add(filling.taken());
    }
    if (!complete.isEmpty()) {
      store();
    }
    finishCommit();
    return new Rereading();
  }

  private final class Rereading implements ByteSource {
    private final Deque<byte[]> ready = new ArrayDeque<>();
    private long next;

    @Override
    public byte[] next() {
      if (ready.isEmpty() && next < chunks) {
        read();
      }
      return ready.isEmpty() ? new byte[0] : ready.remove();
    }

    private void read() {
      if (next > 0 && next % CHUNKS_OF_TOUCH == 0) {
        transactions.runIdempotent(tx -> touch(tx));
      }
      long end = Math.min(chunks, next + CHUNKS_AT_ONCE);
      ready.addAll(transactions.read(tx -> chunks(tx, next, end)));
      next = end;
    }
  }

  private DatabaseHandle touch(Transaction tx) {
    DatabaseHandle db = current(tx);
    requireUnswept(tx, db);
    new UploadsSubspace(db.prefix()).put(tx, upload, Awaiting.await(tx.getReadVersion()));
    return db;
  }

  private List<byte[]> chunks(ReadTransaction tx, long from, long to) {
    DatabaseHandle db = same(catalogue.current(tx, database));
    ChunksSubspace rows = new ChunksSubspace(db.prefix());
    List<CompletableFuture<byte[]>> reads = new ArrayList<>();
    for (long number = from; number < to; number++) {
      reads.add(rows.get(tx, upload, number));
    }
    return reads.stream()
        .map(read -> Optional.ofNullable(Awaiting.await(read)).orElseThrow(ContentUpload::swept))
        .toList();
  }

  private void store() {
    finishCommit();
    List<byte[]> storing = complete;
    long first = chunks;
    complete = new ArrayList<>(CHUNKS_AT_ONCE);
    commit = Optional.of(transactions.begin(tx -> store(tx, first, storing), any -> true));
    committing = storing.size();
    chunks += storing.size();
  }

  private InstanceId store(Transaction tx, long first, List<byte[]> storing) {
    DatabaseHandle db = current(tx);
    if (first > 0) {
      requireUnswept(tx, db);
    }
    new UploadsSubspace(db.prefix()).put(tx, upload, Awaiting.await(tx.getReadVersion()));
    putChunks(tx, db, first, storing);
    return db.instance();
  }

  private void finishCommit() {
    if (commit.isPresent()) {
      PendingTransaction<CommitResult<InstanceId>> last = commit.get();
      commit = Optional.empty();
      committing = 0;
      instance = Optional.of(last.finish().value());
    }
  }

  private void putChunks(Transaction tx, DatabaseHandle db, long first, List<byte[]> storing) {
    ChunksSubspace rows = new ChunksSubspace(db.prefix());
    for (int i = 0; i < storing.size(); i++) {
      rows.put(tx, upload, first + i, storing.get(i));
    }
  }

  /** A database that was deleted and created again meanwhile is another one. */
  private DatabaseHandle current(Transaction tx) {
    return same(catalogue.currentForWrites(tx, database));
  }

  private DatabaseHandle same(DatabaseHandle db) {
    if (instance.isPresent() && !instance.get().equals(db.instance())) {
      throw LectusException.notFound("Database does not exist.");
    }
    return db;
  }

  private void requireUnswept(Transaction tx, DatabaseHandle db) {
    boolean isKnown =
        chunks == 0
            || Awaiting.await(new UploadsSubspace(db.prefix()).since(tx, upload)).isPresent();
    if (!isKnown) {
      throw swept();
    }
  }

  private static LectusException swept() {
    return LectusException.unavailable("The upload of the attachment paused for too long.");
  }

  /**
   * Clears what was stored; an upload that is not abandoned is swept some time. After {@link
   * #finish}, even if it failed, the chunks may be those of a content, and stay.
   */
  public void abandon() {
    commit.ifPresent(ContentUpload::await);
    commit = Optional.empty();
    if (chunks > 0 && !isFinishing) {
      transactions.writeIdempotent(
          tx -> {
            DatabaseHandle db = current(tx);
            new ChunksSubspace(db.prefix()).clear(tx, upload);
            new UploadsSubspace(db.prefix()).clear(tx, upload);
          });
    }
  }

  private static void await(PendingTransaction<CommitResult<InstanceId>> last) {
    last.finish();
  }

  /** The chunk that is being filled. It takes no more memory than has come, or twice as much. */
  private static final class ChunkBuffer {
    private static final int FIRST_BYTES = 1_024;

    private final int most;
    private byte[] bytes;
    private int length;

    ChunkBuffer(int most) {
      this.most = most;
      this.bytes = new byte[Math.min(most, FIRST_BYTES)];
    }

    boolean isEmpty() {
      return length == 0;
    }

    /** Returns how many bytes it takes. */
    int capacity() {
      return bytes.length;
    }

    boolean isFull() {
      return length == most;
    }

    /** Takes as many bytes as there is room for; returns how many. */
    int take(byte[] from, int begin, int end) {
      int count = Math.min(end - begin, most - length);
      if (length + count > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.min(most, Math.max(length + count, 2 * bytes.length)));
      }
      System.arraycopy(from, begin, bytes, length, count);
      length += count;
      return count;
    }

    /** Returns the bytes, and begins anew. */
    byte[] taken() {
      byte[] taken = length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
      bytes = new byte[length == most ? most : Math.min(most, FIRST_BYTES)];
      length = 0;
      return taken;
    }
  }

  /**
   * A content to which a document may refer now.
   *
   * @param length in bytes, as stored
   * @param md5 of the bytes as stored
   */
  public record Content(ContentId id, long length, Md5 md5) {}
}
