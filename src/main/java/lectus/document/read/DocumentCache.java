package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import com.github.benmanes.caffeine.cache.Cache;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerArray;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.json.JsonBuffer;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * A cache of recently read documents, as JSON. For a cached document, a read looks up only the
 * winning edit branch, one key-value, instead of all leaves (RFC 004). The branch has the sequence
 * of the document's last change, and each edit, replication or purge gives another one. So a
 * document with the same sequence is the same, whatever was purged and written in between. A
 * revision alone does not say so: it may be purged and come again with another body.
 *
 * <p>The first read of a document notes only that it was asked for, because a document that is read
 * once does not deserve the read of its branch. Thread-safe.
 */
public final class DocumentCache implements Measured {
  /** Memory of an entry besides its id and its JSON, in bytes. */
  private static final int ENTRY_BYTES = 320;

  /** A document larger than the memory divided by this would evict too many others. */
  private static final int LARGEST_PART = 64;

  /** Number of documents that are known to have been asked for lately. */
  private static final int ASKED_FOR = 1 << 14;

  final CacheMetrics figures = new CacheMetrics("documents");
  private final Cache<Key, Hot> documents;
  private final long largestBytes;

  /** The hashes of keys, each in a place that follows from it. */
  private final AtomicIntegerArray askedFor = new AtomicIntegerArray(ASKED_FOR);

  /** Has its own hash, because a record's hash is an indirect call. */
  private record Key(InstanceId instance, String id) {
    @Override
    public int hashCode() {
      return 31 * instance.hex().hashCode() + id.hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && id.equals(key.id)
          && instance.hex().equals(key.instance.hex());
    }
  }

  /**
   * A live winner.
   *
   * @param changedAt the sequence of the document's last change
   * @param json its body, {@code _id} and {@code _rev}, nothing else
   */
  record Hot(RevisionId revision, Sequence changedAt, byte[] json) {}

  /**
   * @param bytes approximate memory of all entries together
   */
  public DocumentCache(long bytes) {
    largestBytes = bytes / LARGEST_PART;
    documents =
        figures
            .cache()
            .maximumWeight(bytes)
            .weigher((Key key, Hot hot) -> ENTRY_BYTES + key.id.length() + hot.json.length)
            .build();
  }

  @Override
  public void describe(Meters meters) {
    figures.describe(meters, documents::estimatedSize);
  }

  /** Returns a document as the transaction sees it; empty if it has to be read. */
  Optional<Hot> find(ReadTransaction tx, DatabaseHandle db, String id) {
    Hot hot = documents.getIfPresent(new Key(db.instance(), id));
    return hot != null && isAsItWas(tx, db, id, hot) ? Optional.of(hot) : Optional.empty();
  }

  private static boolean isAsItWas(ReadTransaction tx, DatabaseHandle db, String id, Hot hot) {
    return Awaiting.await(new RevisionsSubspace(db).asWinner(tx, id, hot.revision))
        .filter(winner -> winner.sequence().equals(hot.changedAt))
        .isPresent();
  }

  /** Whether a document that has to be read was asked for before, or another with its hash. */
  boolean isAskedForAgain(DatabaseHandle db, String id) {
    int hash = new Key(db.instance(), id).hashCode();
    return askedFor.getAndSet(Math.floorMod(hash, ASKED_FOR), hash) == hash;
  }

  /**
   * Keeps a document that was read, unless it is large.
   *
   * @param changedAt the sequence of its last change
   * @param json ends with the document
   * @param start offset at which the document begins
   */
  void add(
      DatabaseHandle db,
      String id,
      RevisionId revision,
      Sequence changedAt,
      JsonBuffer json,
      int start) {
    if (json.length() - start <= largestBytes) {
      byte[] document = Arrays.copyOfRange(json.array(), start, json.length());
      documents.put(new Key(db.instance(), id), new Hot(revision, changedAt, document));
    }
  }
}
