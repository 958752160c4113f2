package lectus.mango.query;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import lectus.attachment.Digests;
import lectus.database.DatabaseHandle;
import lectus.derived.StoredIndex;
import lectus.derived.rows.IndexEntriesSubspace;
import lectus.document.list.AllDocsSubspace;
import lectus.json.JsonValue.JsonString;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The last key of an answer, as text: the format, what the key is of, and the key without the
 * prefix of that. The key is of an index of one life of a database, or of the list of all its
 * documents. Eight bytes of a digest stand for it. So a place in an index that is gone is no place
 * in its successor, also where a restored store gives the same number to another index.
 */
final class Bookmark {
  private static final StoredFormat FORMAT = new StoredFormat(2, "A bookmark");
  private static final int IDENTITY_BYTES = 8;

  private Bookmark() {}

  static String text(DatabaseHandle db, Optional<StoredIndex> index, byte[] key) {
    int prefix = prefix(db, index).length;
    byte[] bytes =
        new TupleWriter(64)
            .integer(FORMAT.number())
            .bytes(identity(db, index))
            .raw(key, prefix, key.length - prefix)
            .toBytes();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Returns the key.
   *
   * @throws lectus.error.LectusException {@code invalid_bookmark}, also if it is of another index
   *     or another life of the database
   */
  static byte[] key(DatabaseHandle db, Optional<StoredIndex> index, String text) {
    try {
      TupleReader reader = FORMAT.reader(Base64.getUrlDecoder().decode(text));
      if (Arrays.equals(reader.bytes(), identity(db, index))) {
        return TupleWriter.startingWith(prefix(db, index)).raw(reader.rest()).toBytes();
      }
    } catch (IllegalArgumentException | MalformedTupleException malformed) {
      // It is answered like any other.
    }
    throw QueryErrors.of("invalid_bookmark", "Invalid bookmark value: ", new JsonString(text));
  }

  private static byte[] identity(DatabaseHandle db, Optional<StoredIndex> index) {
    StringBuilder text = new StringBuilder(db.instance().hex());
    index.ifPresent(
        it ->
            text.append(it.number())
                .append(it.definition().partitioned())
                .append(it.definition().json().toJson()));
    byte[] digest = Digests.sha256().digest(text.toString().getBytes(StandardCharsets.UTF_8));
    return Arrays.copyOf(digest, IDENTITY_BYTES);
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
