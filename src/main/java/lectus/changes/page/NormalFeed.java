package lectus.changes.page;

import java.util.Optional;
import lectus.changes.page.PageReader.FeedPage;
import lectus.changes.page.PageReader.FirstPage;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.json.JsonBuffer;

/**
 * The body of a normal feed, assembled from pages (RFC 003, Access Patterns). Each document appears
 * in it or after its end, and a document's last row tells its state. The feed ends with the first
 * page that reaches the end at its own read version, or at the last sequence as of the first page.
 * So concurrent writers never keep a reader busy for ever; later changes are pending.
 *
 * <p>With newest first, a document that is updated meanwhile moves behind the reader and may be
 * missed.
 */
public final class NormalFeed implements PagedBody {
  /** So many bytes of an answer have small documents, beside the rest of a page. */
  public static final int SMALL_DOCUMENTS_BYTES = 512 << 10;

  private final ChangesReader changes;
  private final DatabaseReads reads;
  private final Since<FeedPosition> start;
  private final boolean descending;
  private FeedOptions options;
  private FeedPosition begin;
  private FeedPosition position;
  private Optional<FeedPosition> end = Optional.empty();
  private long limit;
  private boolean hasRows;
  private long bytes;

  /**
   * @param start the position after which to begin; with newest first, that before which to begin,
   *     and {@link FeedPosition#BEGINNING} stands for the end
   */
  NormalFeed(
      ChangesReader changes,
      DatabaseReads reads,
      FeedOptions options,
      Since<FeedPosition> start,
      long limit,
      boolean descending) {
    this.changes = changes;
    this.reads = reads;
    this.options = options;
    this.start = start;
    this.limit = limit;
    this.descending = descending;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (position == null) {
      options = descending ? options : changes.beginning(reads, options, start);
      begin = changes.position(reads, start).knowing(options.known());
      position = begin;
      FeedText.appendHead(out);
    }
    int beforeSeparator = out.length();
    if (hasRows) {
      FeedText.appendSeparator(out);
    }
    FeedPage page = end.isEmpty() ? firstPage(out) : page(out);
    if (page.rows() == 0) {
      out.truncate(beforeSeparator);
    }
    bytes += out.length() - beforeSeparator;
    if (bytes >= SMALL_DOCUMENTS_BYTES) {
      options = options.withoutSmallDocuments();
    }
    position = page.next();
    limit -= page.rows();
    hasRows |= page.rows() > 0;
    boolean more = !page.reachedEnd() && limit > 0 && !isPastEnd();
    if (!more) {
      boolean nothingIsOlder = descending && position.equals(begin);
      FeedPosition last = nothingIsOlder ? FeedPosition.BEGINNING : position;
      FeedText.appendTail(last, page.pending(), page.end(), out);
    }
    return more;
  }

  private FeedPage firstPage(JsonBuffer out) {
    FirstPage first = changes.firstPage(reads, options, position, limit, descending, out);
    end = Optional.of(first.end());
    return first.page();
  }

  private FeedPage page(JsonBuffer out) {
    return changes.page(reads, options, position, limit, descending, out);
  }

  private boolean isPastEnd() {
    return !descending && position.compareTo(end.orElseThrow()) >= 0;
  }

  /**
   * Returns the database's last position when the first part was read; it is the same as long as
   * nothing changes. Empty before.
   */
  public Optional<FeedPosition> end() {
    return end;
  }
}
