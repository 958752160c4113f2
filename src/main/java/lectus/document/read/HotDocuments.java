package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.json.JsonBuffer;
import lectus.measure.CacheFigures;
import lectus.measure.Measured;
import lectus.measure.Meters;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * A cache of recently read documents, as JSON. For a cached document, a read looks up only the
 * winner, one small key-value, instead of all leaves (RFC 004). Only documents with a single branch
 * are served from here. Branches are never removed, so the leaf of such a document has been its
 * leaf ever since it was read, and the body of a leaf never changes. Thread-safe.
 */
public final class HotDocuments implements Measured {
  /** Memory of an entry besides its id and its JSON, in bytes. */
  private static final int ENTRY_BYTES = 320;

  /** A document larger than the memory divided by this would evict too many others. */
  private static final int LARGEST_PART = 64;

  private final CacheFigures figures = new CacheFigures("documents");
  private final Cache<Key, Hot> documents;
  private final long largestBytes;

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

  /** A live winner: its body, {@code _id} and {@code _rev}, nothing else. */
  record Hot(RevisionId revision, byte[] json) {}

  /**
   * @param bytes approximate memory of all entries together
   */
  public HotDocuments(long bytes) {
    largestBytes = bytes / LARGEST_PART;
    documents =
        figures
            .countedBy(Caffeine.newBuilder())
            .maximumWeight(bytes)
            .executor(Runnable::run)
            .weigher((Key key, Hot hot) -> ENTRY_BYTES + key.id.length() + hot.json.length)
            .build();
  }

  @Override
  public void describe(Meters meters) {
    figures.describe(meters, documents::estimatedSize);
  }

  /** Returns how many documents were looked for. */
  long reads() {
    return figures.lookUps();
  }

  /** Returns a document as the transaction sees it; empty if it has to be read. */
  Optional<Hot> find(ReadTransaction tx, DatabaseHandle db, String id) {
    Hot hot = documents.getIfPresent(new Key(db.instance(), id));
    return hot != null && isOnlyLeaf(tx, db, id, hot.revision)
        ? Optional.of(hot)
        : Optional.empty();
  }

  private static boolean isOnlyLeaf(
      ReadTransaction tx, DatabaseHandle db, String id, RevisionId revision) {
    Optional<AllDocsRow> row = Awaiting.await(new AllDocsSubspace(db).get(tx, id));
    return row.isPresent() && row.get().branchCount() == 1 && row.get().winner().equals(revision);
  }

  /**
   * Keeps a document that was read, unless it is large.
   *
   * @param json ends with the document
   * @param start offset at which the document begins
   */
  void add(DatabaseHandle db, String id, RevisionId revision, JsonBuffer json, int start) {
    if (json.length() - start <= largestBytes) {
      byte[] document = Arrays.copyOfRange(json.array(), start, json.length());
      documents.put(new Key(db.instance(), id), new Hot(revision, document));
    }
  }
}
