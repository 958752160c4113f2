package lectus.mango.query;

import com.apple.foundationdb.KeyValue;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.derived.StoredIndex;
import lectus.document.list.AllDocsRow;
import lectus.document.list.AllDocsSubspace;
import lectus.mango.index.IndexEntriesSubspace;
import lectus.revision.RevisionId;

/**
 * A document that may match.
 *
 * @param range the range that has the row, counted in the direction of reading
 * @param values what an index has of it, as tuple elements, in the order of its columns
 */
record FindRow(int range, byte[] key, String docId, RevisionId winner, List<byte[]> values) {
  static FindRow decode(DatabaseHandle db, Optional<StoredIndex> index, int range, KeyValue row) {
    if (index.isEmpty()) {
      AllDocsRow document = new AllDocsSubspace(db).decode(row);
      return new FindRow(range, row.getKey(), document.id(), document.winner(), List.of());
    }
    IndexEntriesSubspace.Entry entry = new IndexEntriesSubspace(db, index.get()).decode(row);
    return new FindRow(range, row.getKey(), entry.docId(), entry.winner(), entry.values());
  }

  /** Whether all values of the index are here. */
  boolean isWhole() {
    return values.stream().allMatch(value -> value.length > 0);
  }
}
