package lectus.database;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.List;
import java.util.Optional;
import lectus.store.Awaiting;
import lectus.store.ReadableRows;

/** Lists the names in the catalogue, as many as one transaction reads. */
final class NameListing {
  private static final int NAMES_PER_PAGE = 10_000;

  private final CatalogueSubspace entries;

  NameListing(CatalogueSubspace entries) {
    this.entries = entries;
  }

  /** Returns names in byte order. A snapshot read. */
  NamePage page(ReadTransaction tx, NameRange range) {
    int rows = (int) Math.min(NAMES_PER_PAGE, saturatedSum(range.skip(), range.limit()));
    if (rows == 0) {
      return new NamePage(List.of(), Optional.empty());
    }
    List<DatabaseName> read = read(tx, range, rows);
    List<DatabaseName> names =
        List.copyOf(read.subList((int) Math.min(range.skip(), read.size()), read.size()));
    return new NamePage(names, read.size() < rows ? Optional.empty() : after(range, read, names));
  }

  private List<DatabaseName> read(ReadTransaction tx, NameRange range, int rows) {
    byte[] low = entries.range().begin;
    byte[] high = entries.range().end;
    Optional<byte[]> first = range.start().map(entries::key);
    Optional<byte[]> last = range.end().map(entries::key);
    boolean inclusive = range.inclusiveEnd();
    byte[] begin = range.descending() ? from(last, inclusive, low) : first.orElse(low);
    byte[] end = range.descending() ? above(first, true, high) : above(last, inclusive, high);
    return Awaiting.await(
        ReadableRows.read(
            tx.snapshot(),
            new Range(begin, end),
            rows,
            range.descending(),
            row -> entries.name(row.getKey())));
  }

  private static byte[] from(Optional<byte[]> key, boolean inclusive, byte[] otherwise) {
    return key.map(it -> inclusive ? it : following(it)).orElse(otherwise);
  }

  private static byte[] above(Optional<byte[]> key, boolean inclusive, byte[] otherwise) {
    return key.map(it -> inclusive ? following(it) : it).orElse(otherwise);
  }

  /** Continues after the last row read; skipped and listed names are subtracted. */
  private Optional<NameRange> after(
      NameRange range, List<DatabaseName> read, List<DatabaseName> names) {
    long limit = range.limit() - names.size();
    if (limit == 0) {
      return Optional.empty();
    }
    String last = read.get(read.size() - 1).text();
    // The last name is read again and skipped, so that both directions continue the same way.
    long skip = Math.max(0, range.skip() - read.size()) + 1;
    return Optional.of(
        new NameRange(
            Optional.of(last), range.end(), range.inclusiveEnd(), range.descending(), skip, limit));
  }

  static byte[] following(byte[] key) {
    return ByteArrayUtil.join(key, new byte[] {0});
  }

  private static long saturatedSum(long skip, long limit) {
    return limit > Long.MAX_VALUE - skip ? Long.MAX_VALUE : skip + limit;
  }
}
