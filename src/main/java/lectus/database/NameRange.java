package lectus.database;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Optional;
import lectus.store.Awaiting;
import lectus.store.ReadableRows;

/**
 * The names that {@code _all_dbs} lists.
 *
 * @param start first name in the direction of reading, inclusive
 * @param end last name in the direction of reading
 * @param inclusiveEnd whether {@code end} itself is listed
 * @param skip number of names skipped before the first one listed
 * @param limit maximum number of names listed
 */
public record NameRange(
    Optional<String> start,
    Optional<String> end,
    boolean inclusiveEnd,
    boolean descending,
    long skip,
    long limit) {
  private static final int NAMES_PER_PAGE = 10_000;

  public static final NameRange ALL =
      new NameRange(Optional.empty(), Optional.empty(), false, 0, Long.MAX_VALUE);

  /** Includes the range's end. */
  public NameRange(
      Optional<String> start, Optional<String> end, boolean descending, long skip, long limit) {
    this(start, end, true, descending, skip, limit);
  }

  /**
   * Names read in one transaction.
   *
   * @param next where to continue; empty at the end of the range
   */
  public record Page(List<DatabaseName> names, Optional<NameRange> next) {}

  /** Returns names in byte order. A snapshot read. */
  Page read(ReadTransaction tx, CatalogueSubspace entries) {
    int rows = (int) Math.min(NAMES_PER_PAGE, saturatedSum(skip, limit));
    if (rows == 0) {
      return new Page(List.of(), Optional.empty());
    }
    List<DatabaseName> read = names(tx, entries, rows);
    List<DatabaseName> names =
        List.copyOf(read.subList((int) Math.min(skip, read.size()), read.size()));
    return new Page(names, read.size() < rows ? Optional.empty() : after(read, names));
  }

  private List<DatabaseName> names(ReadTransaction tx, CatalogueSubspace entries, int rows) {
    byte[] low = entries.range().begin;
    byte[] high = entries.range().end;
    Optional<byte[]> first = start.map(entries::key);
    Optional<byte[]> last = end.map(entries::key);
    byte[] begin = descending ? from(last, inclusiveEnd, low) : first.orElse(low);
    byte[] end = descending ? above(first, true, high) : above(last, inclusiveEnd, high);
    return Awaiting.await(
        ReadableRows.read(
            tx.snapshot(),
            new Range(begin, end),
            rows,
            descending,
            row -> entries.name(row.getKey())));
  }

  private static byte[] from(Optional<byte[]> key, boolean inclusive, byte[] otherwise) {
    return key.map(it -> inclusive ? it : following(it)).orElse(otherwise);
  }

  private static byte[] above(Optional<byte[]> key, boolean inclusive, byte[] otherwise) {
    return key.map(it -> inclusive ? following(it) : it).orElse(otherwise);
  }

  /** Continues after the last row read; skipped and listed names are subtracted. */
  private Optional<NameRange> after(List<DatabaseName> read, List<DatabaseName> names) {
    long more = limit - names.size();
    if (more == 0) {
      return Optional.empty();
    }
    String last = read.get(read.size() - 1).text();
    // The last name is read again and skipped, so that both directions continue the same way.
    long again = Math.max(0, skip - read.size()) + 1;
    return Optional.of(
        new NameRange(Optional.of(last), end, inclusiveEnd, descending, again, more));
  }

  static byte[] following(byte[] key) {
    return ByteArrayUtil.join(key, new byte[] {0});
  }

  private static long saturatedSum(long skip, long limit) {
    return limit > Long.MAX_VALUE - skip ? Long.MAX_VALUE : skip + limit;
  }
}
