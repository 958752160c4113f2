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
import lectus.revision.RevisionId;
import lectus.store.Reads;

/**
 * Documents that were read lately, as JSON: of one that is here a read looks up the winner alone,
 * one small key-value, instead of all leaves (RFC 004). Only documents with a single branch are
 * answered from here. Branches are never taken away, so its leaf has been the leaf ever since it
 * was read, and the body of a leaf does not change. For any thread.
 */
public final class HotDocuments {
  /** What an entry takes beside its id and its JSON, in bytes. */
  private static final int ENTRY_BYTES = 320;

  /** A document that takes more than this part of the memory would push too many others out. */
  private static final int LARGEST_PART = 64;

  private final Cache<Key, Hot> documents;
  private final long largestBytes;

  /** With a hash of its own: a record's is an indirect call. */
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

  /** A live winner, with nothing but its body, {@code _id} and {@code _rev}. */
  record Hot(RevisionId revision, byte[] json) {}

  /**
   * @param bytes of memory, more or less, that they may take together
   */
  public HotDocuments(long bytes) {
    largestBytes = bytes / LARGEST_PART;
    documents =
        Caffeine.newBuilder()
            .maximumWeight(bytes)
            .executor(Runnable::run)
            .weigher((Key key, Hot hot) -> ENTRY_BYTES + key.id.length() + hot.json.length)
            .build();
  }

  /** A document as the transaction sees it; empty if it has to be read. */
  Optional<Hot> find(ReadTransaction tx, DatabaseHandle db, String id) {
    Hot hot = documents.getIfPresent(new Key(db.instance(), id));
    return hot != null && isOnlyLeaf(tx, db, id, hot.revision)
        ? Optional.of(hot)
        : Optional.empty();
  }

  private static boolean isOnlyLeaf(
      ReadTransaction tx, DatabaseHandle db, String id, RevisionId revision) {
    Optional<AllDocsRow> row = Reads.await(new AllDocsSubspace(db).get(tx, id));
    return row.isPresent() && row.get().branchCount() == 1 && row.get().winner().equals(revision);
  }

  /**
   * Keeps a document that was read, unless it is large.
   *
   * @param json ends with the document
   * @param start where in it the document begins
   */
  void add(DatabaseHandle db, String id, RevisionId revision, JsonBuffer json, int start) {
    if (json.length() - start <= largestBytes) {
      byte[] document = Arrays.copyOfRange(json.array(), start, json.length());
      documents.put(new Key(db.instance(), id), new Hot(revision, document));
    }
  }
}
