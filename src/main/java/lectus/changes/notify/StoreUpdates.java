package lectus.changes.notify;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.changes.log.UpdatesLog;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.FeedText;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.NewestFirst;
import lectus.changes.page.NewestFirst.Before;
import lectus.changes.page.Registration;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.changes.page.Since;
import lectus.database.DatabaseUpdate;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Store;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * The feed of what happened to databases, in commit order: for each existing database its creation
 * and its last update, for each deleted one its end, and whatever else the updates log still has. A
 * row is {@code {"db_name":"a","type":"updated","seq":"…"}}.
 */
public final class StoreUpdates {
  private static final byte[] NAME = FeedText.ascii("{\"db_name\":");
  private static final byte[] TYPE = FeedText.ascii(",\"type\":\"");
  private static final byte[] SEQUENCE = FeedText.ascii("\",\"seq\":\"");
  private static final byte[] ROW_END = FeedText.ascii("\"}");

  /** Behind every row. */
  private static final StorePosition END = new StorePosition(Versionstamp.END);

  /** Rows read at once from each bucket of the log; a page has up to 16 times as many. */
  private static final int ROWS_PER_BUCKET = 128;

  private final UpdatesLog log;
  private final TransactionRunner transactions;
  private final int rowsPerBucket;

  public StoreUpdates(Store store, TransactionRunner transactions) {
    this(store, transactions, ROWS_PER_BUCKET);
  }

  StoreUpdates(Store store, TransactionRunner transactions, int rowsPerBucket) {
    this.log = new UpdatesLog(store);
    this.transactions = transactions;
    this.rowsPerBucket = rowsPerBucket;
  }

  /**
   * Opens the feed for live reading.
   *
   * @throws LectusException {@code bad_request}: the store has not reached {@code since}
   */
  public LiveStart<StorePosition> live(Since<StorePosition> since, DatabaseNotifications events) {
    LiveStart<StorePosition> start = unchecked(since, events);
    if (!since.isNow()) {
      transactions.read(start.from()::checkReached);
    }
    return start;
  }

  /**
   * Opens the feed like {@link #live}, but its first page refuses what the store has not reached.
   */
  public LiveStart<StorePosition> unchecked(
      Since<StorePosition> since, DatabaseNotifications events) {
    return new LiveStart<>(new Source(events), position(since));
  }

  /**
   * Opens the feed newest first.
   *
   * @param before the bound of the newest row; empty for the end
   */
  public LiveStart<Before<StorePosition>> downFrom(Optional<StorePosition> before) {
    return new LiveStart<>(
        new NewestFirst<>(
            (from, limit) -> CompletableFuture.completedFuture(pageDown(from, limit)),
            Optional.empty()),
        Before.bound(before.orElse(END)));
  }

  private LivePage<Before<StorePosition>> pageDown(Before<StorePosition> from, long limit) {
    Page page = pageBack(from.at().orElseThrow(), limit);
    return live(page, page.rows().isEmpty() ? from : Before.entry(page.next()), Before::entry);
  }

  private static <P extends ResumePoint<P>> LivePage<P> live(
      Page page, P next, Function<StorePosition, P> point) {
    RowsBuilder<P> rows = new RowsBuilder<>(512);
    for (DatabaseUpdate row : page.rows()) {
      append(row, rows.json());
      rows.endRow(point.apply(new StorePosition(row.at())));
    }
    return new LivePage<>(
        rows.build(), next, page.reachedEnd(), page.reachedEnd() ? 0 : 1, Optional.empty());
  }

  /** Returns the bound before which the row at {@code newest} is the first, newest first. */
  public StorePosition rightBehind(Since<StorePosition> newest) {
    return new StorePosition(position(newest).at().successor());
  }

  /** Returns the position that {@code since} or {@code until} names. */
  public StorePosition position(Since<StorePosition> since) {
    return since.after().orElseGet(this::newest);
  }

  private StorePosition newest() {
    return transactions.read(log::newest).map(StorePosition::new).orElse(StorePosition.BEGINNING);
  }

  /**
   * Rows of the log.
   *
   * @param next after the last of them, or before it if newest first
   * @param reachedEnd whether nothing followed at the page's read version
   */
  record Page(List<DatabaseUpdate> rows, StorePosition next, boolean reachedEnd) {}

  Page page(StorePosition from, long limit) {
    int perBucket = (int) Math.min(limit, rowsPerBucket);
    return transactions.read(
        tx -> {
          from.checkReached(tx);
          return page(log.read(tx, from.next(), perBucket), from, limit);
        });
  }

  /** Reads the rows before {@code from}, newest first. */
  Page pageBack(StorePosition from, long limit) {
    int perBucket = (int) Math.min(limit, rowsPerBucket);
    return transactions.read(tx -> page(log.readBack(tx, from.at(), perBucket), from, limit));
  }

  private static Page page(UpdatesLog.Chunk chunk, StorePosition from, long limit) {
    int count = (int) Math.min(limit, chunk.rows().size());
    List<DatabaseUpdate> rows = chunk.rows().subList(0, count);
    boolean reachedEnd = chunk.next().isEmpty() && count == chunk.rows().size();
    StorePosition next = rows.isEmpty() ? from : new StorePosition(rows.get(count - 1).at());
    return new Page(rows, next, reachedEnd);
  }

  static void append(DatabaseUpdate row, JsonBuffer out) {
    out.raw(NAME).string(row.name().text());
    out.raw(TYPE).ascii(row.kind().name().toLowerCase(Locale.ROOT));
    out.raw(SEQUENCE).ascii(row.at().toString()).raw(ROW_END);
  }

  private final class Source implements LiveSource<StorePosition> {
    /** All listeners of a store's updates read the same. */
    private static final Object IDENTITY = StoreUpdates.class;

    private final StoreNotifications news;

    Source(DatabaseNotifications events) {
      this.news = new StoreNotifications(events, WantedDatabases.ALL);
    }

    @Override
    public Optional<Sharing<StorePosition>> sharing() {
      return Optional.of(Sharing.ofEqualRows(IDENTITY, this));
    }

    @Override
    public LivePage<StorePosition> page(StorePosition from, long limit) {
      Page page = StoreUpdates.this.page(from, limit);
      return live(page, page.next(), Function.identity());
    }

    @Override
    public Registration listen(Listener listener) {
      return news.listen(listener);
    }

    /** One row stands for all documents of a commit. */
    @Override
    public boolean hasNews(StorePosition position) {
      return news.isOfLaterCommit(position);
    }
  }
}
