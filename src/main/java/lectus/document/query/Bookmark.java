package lectus.document.query;

import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.index.IndexEntriesSubspace;
import lectus.index.StoredIndex;
import lectus.json.JsonValue.JsonString;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The last key of an answer, as text: the format, the number of the index (0 for the list of all
 * documents), and the key without the index's prefix.
 */
final class Bookmark {
  private static final StoredFormat FORMAT = new StoredFormat(1, "A bookmark");

  private Bookmark() {}

  static String text(DatabaseHandle db, Optional<StoredIndex> index, byte[] key) {
    int prefix = prefix(db, index).length;
    byte[] bytes =
        new TupleWriter(64)
            .integer(FORMAT.number())
            .integer(index.map(StoredIndex::number).orElse(0L))
            .raw(key, prefix, key.length - prefix)
            .toBytes();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Returns the key.
   *
   * @throws lectus.error.LectusException {@code invalid_bookmark}, also if it is of another index
   */
  static byte[] key(DatabaseHandle db, Optional<StoredIndex> index, String text) {
    try {
      TupleReader reader = FORMAT.reader(Base64.getUrlDecoder().decode(text));
      if (reader.integer() == index.map(StoredIndex::number).orElse(0L)) {
        return TupleWriter.startingWith(prefix(db, index)).raw(reader.rest()).toBytes();
      }
    } catch (IllegalArgumentException | MalformedTupleException malformed) {
      // It is answered like any other.
    }
    throw QueryErrors.of("invalid_bookmark", "Invalid bookmark value: ", new JsonString(text));
  }

  private static byte[] prefix(DatabaseHandle db, Optional<StoredIndex> index) {
    return index
        .map(it -> new IndexEntriesSubspace(db, it).begin(Optional.empty()))
        .orElseGet(() -> new AllDocsSubspace(db).begin());
  }

  /** Returns where reading goes on, if it lies in one of the ranges or between them. */
  static boolean isBehind(byte[] key, byte[] bound, boolean descending) {
    int order = Arrays.compareUnsigned(key, bound);
    return descending ? order <= 0 : order >= 0;
  }
}
