package lectus.attachment;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Attachments that clients send in pieces, over any servers of a store. */
public record PieceIntake(Catalogue catalogue, TransactionRunner transactions) {
  /** Uploads of one user in one database at a time. */
  public static final int MOST_OF_USER = 16;

  /** Uploads in one database at a time. */
  public static final int MOST_OF_DATABASE = 1_000;

  private static final int RETRY_SECONDS = 60;

  /**
   * Returns how far an upload is.
   *
   * @throws LectusException {@code not_found}: the user has no such upload for the attachment
   */
  public ResumableUpload find(AskedDatabase asked, UploadName name, UploadTarget target) {
    return transactions
        .read(
            tx ->
                Awaiting.await(
                    new ResumablesSubspace(asked.current(tx, catalogue).prefix()).get(tx, name)))
        .filter(it -> it.target().equals(target))
        .orElseThrow(PieceIntake::missing);
  }

  /**
   * Begins to take the next bytes.
   *
   * @param from offset of the first
   * @throws LectusException WrongOffset (416): other bytes are missing; NotNow (409): the name is
   *     in use for another attachment; TooManyRequests (429): too many uploads are open
   */
  public UploadPiece piece(
      DatabaseName database, UploadName name, UploadTarget target, long from, long total) {
    return transactions.read(
        tx -> {
          byte[] prefix = catalogue.current(tx, database).prefix();
          Optional<ResumableUpload> found =
              Awaiting.await(new ResumablesSubspace(prefix).get(tx, name));
          found.ifPresent(it -> requireSame(it, target, total));
          long received = found.map(ResumableUpload::received).orElse(0L);
          if (received != from) {
            throw wrongOffset(received);
          }
          if (found.isEmpty()) {
            requireRoom(tx, prefix, name);
          }
          return new UploadPiece(
              this,
              database,
              name,
              found.orElseGet(() -> ResumableUpload.begun(target, total)),
              tail(tx, prefix, found));
        });
  }

  /** Returns the bytes of the last chunk if it is not full. */
  private static byte[] tail(ReadTransaction tx, byte[] prefix, Optional<ResumableUpload> upload) {
    long received = upload.map(ResumableUpload::received).orElse(0L);
    if (received % ContentUpload.CHUNK_BYTES == 0) {
      return new byte[0];
    }
    long number = received / ContentUpload.CHUNK_BYTES;
    return Awaiting.await(
        new ChunksSubspace(prefix).get(tx, upload.orElseThrow().chunks(), number));
  }

  private static void requireSame(ResumableUpload found, UploadTarget target, long total) {
    if (!found.target().equals(target) || found.total() != total) {
      throw new LectusException(
          new LectusError.NotNow(
              "The upload's ID is in use for another attachment or another length."));
    }
  }

  /**
   * Of one user's uploads no more begin at once either; the database's may be a few more than its
   * limit.
   */
  private static void requireRoom(ReadTransaction tx, byte[] prefix, UploadName name) {
    ResumablesSubspace rows = new ResumablesSubspace(prefix);
    if (isFull(tx, rows.rangeOfUser(name), MOST_OF_USER)) {
      throw tooMany("You have " + MOST_OF_USER + " unfinished uploads in this database.");
    }
    if (isFull(tx.snapshot(), rows.range(), MOST_OF_DATABASE)) {
      throw tooMany("The database has " + MOST_OF_DATABASE + " unfinished uploads.");
    }
  }

  private static boolean isFull(ReadTransaction tx, Range range, int most) {
    return Awaiting.await(tx.getRange(range, most).asList()).size() >= most;
  }

  /**
   * Stores chunks behind what is there.
   *
   * @param before how far the upload was
   * @throws LectusException WrongOffset (416) if it is not there any more; as {@link #piece}
   */
  ResumableUpload store(
      DatabaseName database,
      UploadName name,
      ResumableUpload before,
      List<byte[]> chunks,
      long received) {
    ResumableUpload after = before.upTo(received);
    transactions.run(
        tx -> {
          byte[] prefix = catalogue.currentForWrites(tx, database).prefix();
          requireAt(tx, prefix, name, before);
          ChunksSubspace rows = new ChunksSubspace(prefix);
          long first = before.received() / ContentUpload.CHUNK_BYTES;
          for (int i = 0; i < chunks.size(); i++) {
            rows.put(tx, before.chunks(), first + i, chunks.get(i));
          }
          put(tx, prefix, name, after);
          return null;
        });
    return after;
  }

  private static void requireAt(
      Transaction tx, byte[] prefix, UploadName name, ResumableUpload expected) {
    Optional<ResumableUpload> found = Awaiting.await(new ResumablesSubspace(prefix).get(tx, name));
    boolean isFirst = found.isEmpty() && expected.received() == 0;
    if (isFirst) {
      requireRoom(tx, prefix, name);
    } else if (!found.equals(Optional.of(expected))) {
      throw wrongOffset(found.map(ResumableUpload::received).orElse(0L));
    }
  }

  private static void put(Transaction tx, byte[] prefix, UploadName name, ResumableUpload upload) {
    new ResumablesSubspace(prefix).put(tx, name, upload, Awaiting.await(tx.getReadVersion()));
  }

  /**
   * Keeps a complete upload for another while.
   *
   * @throws LectusException WrongOffset (416) if it is gone
   */
  public void touch(DatabaseName database, UploadName name, ResumableUpload upload) {
    transactions.runIdempotent(
        tx -> {
          byte[] prefix = catalogue.currentForWrites(tx, database).prefix();
          requireAt(tx, prefix, name, upload);
          put(tx, prefix, name, upload);
          return null;
        });
  }

  /**
   * Returns some chunks of a complete upload; none behind the last.
   *
   * @throws LectusException {@code not_found}: it was given up meanwhile
   */
  public List<byte[]> chunks(DatabaseName database, ResumableUpload upload, long first) {
    long all = (upload.total() + ContentUpload.CHUNK_BYTES - 1) / ContentUpload.CHUNK_BYTES;
    long end = Math.min(all, first + ContentUpload.CHUNKS_AT_ONCE);
    return transactions.read(
        tx -> {
          ChunksSubspace rows = new ChunksSubspace(catalogue.current(tx, database).prefix());
          List<CompletableFuture<byte[]>> reads = new ArrayList<>();
          for (long number = first; number < end; number++) {
            reads.add(rows.get(tx, upload.chunks(), number));
          }
          return reads.stream().map(PieceIntake::chunk).toList();
        });
  }

  private static byte[] chunk(CompletableFuture<byte[]> read) {
    return Optional.ofNullable(Awaiting.await(read)).orElseThrow(PieceIntake::missing);
  }

  /** Clears an upload that is given up, or not needed any more. */
  public void clear(DatabaseName database, UploadName name, ResumableUpload upload) {
    transactions.runIdempotent(
        tx -> {
          DatabaseHandle db = catalogue.currentForWrites(tx, database);
          ResumablesSubspace rows = new ResumablesSubspace(db.prefix());
          Awaiting.await(rows.get(tx, name))
              .filter(it -> it.chunks().equals(upload.chunks()))
              .ifPresent(
                  it -> {
                    rows.clear(tx, name);
                    new ChunksSubspace(db.prefix()).clear(tx, it.chunks());
                  });
          return null;
        });
  }

  private static LectusException missing() {
    return LectusException.notFound("There is no such upload.");
  }

  private static LectusException wrongOffset(long received) {
    return new LectusException(new LectusError.WrongOffset(received));
  }

  private static LectusException tooMany(String reason) {
    return new LectusException(new LectusError.TooManyRequests(reason, RETRY_SECONDS));
  }
}
