package lectus.mango.query;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lectus.attachment.Digests;
import lectus.database.DatabaseHandle;
import lectus.derived.IndexDefinition;
import lectus.derived.StoredIndex;
import lectus.derived.rows.IndexEntriesSubspace;
import lectus.document.read.AllDocsSubspace;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue.JsonString;
import lectus.json.MalformedTupleException;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.mango.query.FindPage.FindRow;
import lectus.mango.query.Planner.QueryPlan;
import lectus.mango.query.RequestMembers.QueryErrors;

/**
 * How far a query has come.
 *
 * @param range the range that is read, counted in the direction of reading
 * @param last the last key that was read in it
 * @param shown the last key whose document is in the answer
 */
record FindCursor(
    int range,
    Optional<byte[]> last,
    Optional<byte[]> shown,
    long skip,
    long limit,
    long keys,
    long documents,
    long results) {
  static FindCursor begin(FindRequest request) {
    return new FindCursor(
        0, Optional.empty(), Optional.empty(), request.skip(), request.limit(), 0, 0, 0);
  }

  FindCursor at(FindRow row) {
    return new FindCursor(
        row.range(), Optional.of(row.key()), shown, skip, limit, keys + 1, documents, results);
  }

  /** Goes on behind a key that nothing was read of. */
  FindCursor from(byte[] key) {
    return new FindCursor(range, Optional.of(key), shown, skip, limit, keys, documents, results);
  }

  /** Returns the counts of this cursor at the place of another. */
  FindCursor atPlaceOf(FindCursor other) {
    return new FindCursor(
        other.range, other.last, other.shown, skip, limit, keys, documents, results);
  }

  FindCursor inRange(int number) {
    return new FindCursor(number, Optional.empty(), shown, skip, limit, keys, documents, results);
  }

  FindCursor examined() {
    return new FindCursor(range, last, shown, skip, limit, keys, documents + 1, results);
  }

  /** Whether no further document is asked for. */
  boolean hasAll() {
    return limit == 0;
  }

  FindCursor skipped() {
    return new FindCursor(range, last, shown, skip - 1, limit, keys, documents, results);
  }

  FindCursor shows() {
    return new FindCursor(range, last, last, skip, limit - 1, keys, documents, results + 1);
  }

  /** What follows the documents of an answer: the bookmark, figures and warnings. */
  record FindTail(DatabaseHandle db, FindRequest request, QueryPlan plan, FindCursor cursor) {
    /** So many documents for each that is shown deserve a warning. */
    private static final long MUCH_EXAMINED = 10;

    void append(double elapsedMillis, JsonBuffer out) {
      out.ascii("\r\n],\r\n\"bookmark\": ").string(bookmark());
      if (request.options().stats()) {
        boolean isQuorum = request.quorum() > 1;
        out.ascii(",\r\n\"execution_stats\": {\"total_keys_examined\":").number(cursor.keys());
        out.ascii(",\"total_docs_examined\":").number(isQuorum ? 0 : cursor.documents());
        out.ascii(",\"total_quorum_docs_examined\":").number(isQuorum ? cursor.documents() : 0);
        out.ascii(",\"results_returned\":").number(cursor.results());
        out.ascii(",\"execution_time_ms\":").number(elapsedMillis).octet('}');
      }
      List<String> warnings = warnings();
      if (!warnings.isEmpty()) {
        out.ascii(",\r\n\"warning\": ").string(String.join("\n", warnings));
      }
      out.ascii("}\r\n");
    }

    private String bookmark() {
      Optional<StoredIndex> index = plan.chosen().orElseThrow().index();
      return cursor
          .shown()
          .map(key -> Bookmark.text(db, index, key))
          .orElseGet(() -> request.bookmark().orElse("nil"));
    }

    /** Whether the index that the query names could not be used. */
    boolean isOtherIndex() {
      return !request.useIndex().isEmpty()
          && !plan.chosen().orElseThrow().isNamed(request.useIndex());
    }

    boolean isUnindexed() {
      return plan.chosen().orElseThrow().index().isEmpty();
    }

    boolean isMuchExamined() {
      return cursor.documents() > MUCH_EXAMINED * Math.max(1, cursor.results());
    }

    private List<String> warnings() {
      List<String> warnings = new ArrayList<>();
      if (isOtherIndex()) {
        warnings.add(
            Planner.wantedIndex(request)
                + (request.useIndex().size() < 2
                    ? " was not used because it does not contain a valid index for this query."
                    : " was not used because it is not a valid index for this query."));
      }
      if (isUnindexed()) {
        warnings.add("No matching index found, create an index to optimize query time.");
      }
      if (isMuchExamined()) {
        warnings.add(
            "The number of documents examined is high in proportion to the number of results"
                + " returned. Consider adding a more specific index to improve this.");
      }
      for (StoredIndex index : plan.building()) {
        IndexDefinition definition = index.definition();
        warnings.add(
            "%s, %s is being built and was not used yet."
                .formatted(definition.design(), definition.name()));
      }
      return warnings;
    }
  }

  /**
   * The last key of an answer, as text: the format, what the key is of, and the key without the
   * prefix of that. The key is of an index of a database, or of the list of all its documents;
   * eight bytes of a digest stand for it. So a place in an index that is gone is no place in its
   * successor, also where a restored store gives the same number to another index. A database that
   * comes from elsewhere has its history and its indexes with their numbers, and so their places.
   */
  static final class Bookmark {
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
     *     or of a database that was made at another time
     */
    static byte[] key(DatabaseHandle db, Optional<StoredIndex> index, String text) {
      try {
        TupleReader reader = FORMAT.reader(Base64.getUrlDecoder().decode(text));
        if (Arrays.equals(reader.bytes(), identity(db, index))) {
          return new TupleWriter(prefix(db, index)).raw(reader.rest()).toBytes();
        }
      } catch (IllegalArgumentException | MalformedTupleException malformed) {
        // It is answered like any other.
      }
      throw QueryErrors.of("invalid_bookmark", "Invalid bookmark value: ", new JsonString(text));
    }

    private static byte[] identity(DatabaseHandle db, Optional<StoredIndex> index) {
      byte[] made = db.incarnations().all().get(0).begun().bytes();
      StringBuilder text = new StringBuilder(HexFormat.of().formatHex(made));
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
}
