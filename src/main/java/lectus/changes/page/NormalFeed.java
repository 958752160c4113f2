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
 */
public final class NormalFeed implements PagedBody {
  private final ChangesReader changes;
  private final DatabaseReads reads;
  private final Since<FeedPosition> start;
  private FeedOptions options;
  private FeedPosition position;
  private Optional<FeedPosition> end = Optional.empty();
  private long limit;
  private boolean hasRows;

  NormalFeed(
      ChangesReader changes,
      DatabaseReads reads,
      FeedOptions options,
      Since<FeedPosition> start,
      long limit) {
    this.changes = changes;
    this.reads = reads;
    this.options = options;
    this.start = start;
    this.limit = limit;
  }

  @Override
  public boolean appendNext(JsonBuffer out) {
    if (position == null) {
      options = changes.beginning(reads, options, start);
      position = changes.position(reads, start).knowing(options.known());
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
    position = page.next();
    limit -= page.rows();
    hasRows |= page.rows() > 0;
    boolean more = !page.reachedEnd() && limit > 0 && position.compareTo(end.orElseThrow()) < 0;
    if (!more) {
      FeedText.appendTail(position, page.pending(), page.end(), out);
    }
    return more;
  }

  private FeedPage firstPage(JsonBuffer out) {
    FirstPage first = changes.firstPage(reads, options, position, limit, out);
    end = Optional.of(first.end());
    return first.page();
  }

  private FeedPage page(JsonBuffer out) {
    return changes.page(reads, options, position, limit, out);
  }

  /**
   * Returns the database's last position when the first part was read; it is the same as long as
   * nothing changes. Empty before.
   */
  public Optional<FeedPosition> end() {
    return end;
  }
}
