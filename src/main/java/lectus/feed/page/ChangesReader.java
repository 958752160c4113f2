package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.changes.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.DatabaseReads;
import lectus.document.PageLimits;
import lectus.error.LectusException;
import lectus.feed.DatabaseEvents;
import lectus.feed.LivePage;
import lectus.feed.LiveStart;
import lectus.feed.RowsBuilder;
import lectus.feed.TailPage;
import lectus.json.JsonBuffer;
import lectus.store.Reads;
import lectus.store.TransactionRunner;

/**
 * Reads the changes of a database, or of one of its shards, in their order (RFC 003, Access
 * Patterns; RFC 018, Read Path).
 */
public final class ChangesReader {
  /** CouchDB's limit when none is given; {@code seq_interval} counts from it. */
  public static final long NO_LIMIT = 1_000_000_000_000_000L;

  /** Bytes that the rows of one or two changes take. */
  private static final int FIRST_CAPACITY = 512;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final PageLimits pages;
  private final Optional<ShardId> shard;

  public ChangesReader(Catalogue catalogue, TransactionRunner transactions) {
    this(catalogue, transactions, PageLimits.DEFAULT);
  }

  ChangesReader(Catalogue catalogue, TransactionRunner transactions, PageLimits pages) {
    this(catalogue, transactions, pages, Optional.empty());
  }

  private ChangesReader(
      Catalogue catalogue,
      TransactionRunner transactions,
      PageLimits pages,
      Optional<ShardId> shard) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.pages = pages;
    this.shard = shard;
  }

  /**
   * Reads one shard alone, in whatever database that has it. Where it has been replaced, the end of
   * a feed says so.
   */
  public ChangesReader ofShard(ShardId id) {
    return new ChangesReader(catalogue, transactions, pages, Optional.of(id));
  }

  /** The one shard this reads; empty for all. */
  Optional<ShardId> shard() {
    return shard;
  }

  /**
   * Opens the changes of a database to be read live.
   *
   * @throws LectusException {@code not_found}: the database, or its shard; {@code bad_request}: it
   *     has not reached {@code since}
   */
  public LiveStart<FeedPosition> live(
      DatabaseName name, FeedOptions options, Since since, DatabaseEvents events) {
    return reads(name)
        .read(
            (tx, life) -> {
              checkShard(life);
              FeedPosition from = position(tx, life, since);
              from.checkReached(tx, life);
              return new LiveStart<>(new DatabaseSource(this, events, life, options), from);
            });
  }

  /**
   * The rows behind {@code from}, oldest first, as many as one page holds.
   *
   * @throws LectusException {@code not_found} when this life of the database is over
   */
  LivePage<FeedPosition> livePage(
      DatabaseHandle life, FeedOptions options, FeedPosition from, long limit) {
    RowsBuilder<FeedPosition> rows = new RowsBuilder<>(FIRST_CAPACITY);
    FeedPage page =
        reads(life)
            .read(
                (tx, db) -> {
                  rows.clear();
                  EntryShow show =
                      new PageRows(tx, db, options, rows.json(), new RowsFrame(rows), pages.bytes())
                          ::append;
                  return pageReader(tx, db, options, false, show).read(from, limit);
                });
    return new LivePage<>(rows.build(), page.next(), page.reachedEnd(), page.pending(), page.end());
  }

  /** What is behind {@code from} for all views of a tail. */
  TailPage<FeedPosition> tailPage(DatabaseHandle life, ViewSet views, FeedPosition from) {
    return reads(life)
        .read(
            (tx, db) -> {
              ViewRows rows = new ViewRows(tx, db, views, pages.bytes());
              FeedPage page =
                  pageReader(tx, db, FeedOptions.DEFAULT, false, rows::append)
                      .read(from, Long.MAX_VALUE);
              return new TailPage<>(from, rows.build(), page.next(), page.reachedEnd(), page.end());
            });
  }

  /** How far the database is, at most {@code claimed}. */
  FeedPosition noFurtherThanItIs(DatabaseHandle life, FeedPosition claimed) {
    FeedPosition last = position(reads(life), new Since.Now());
    return last.compareTo(claimed) < 0 ? last : claimed;
  }

  /** Entries behind a position, whatever a filter lets through. */
  long pendingBehind(DatabaseHandle life, FeedPosition position) {
    return reads(life)
        .read(
            (tx, db) -> {
              FeedExtent extent = FeedExtent.of(db.topology(), shard);
              boolean any =
                  !new EntryReader(tx, db, extent).oldest(position.sequence(), 1).isEmpty();
              return any ? new PendingEntries(tx, db, extent).behind(position) : 0;
            });
  }

  /**
   * Appends the rows behind {@code from}, or before it if newest first, as many as one page holds:
   * some hundred kilobytes. A page may have no rows although the end is not reached, where a filter
   * let none through.
   *
   * @param limit rows at most that the feed has left, 0 or more
   * @throws LectusException {@code not_found} when the database is gone; {@code bad_request} when
   *     it has not reached {@code from}, oldest first
   */
  FeedPage page(
      DatabaseReads reads,
      FeedOptions options,
      FeedPosition from,
      long limit,
      boolean descending,
      JsonBuffer out) {
    return writing(reads, out, (tx, db) -> page(tx, db, options, from, limit, descending, out));
  }

  /** As {@link #page}, with how far the database was, in the same transaction. */
  FirstPage firstPage(
      DatabaseReads reads,
      FeedOptions options,
      FeedPosition from,
      long limit,
      boolean descending,
      JsonBuffer out) {
    return writing(
        reads,
        out,
        (tx, db) -> {
          FeedPage page = page(tx, db, options, from, limit, descending, out);
          boolean tellsEnd = page.reachedEnd() && !descending && shard.isEmpty();
          return new FirstPage(page, tellsEnd ? page.next() : position(tx, db, new Since.Now()));
        });
  }

  /** What a transaction has written is not there any more when it runs again. */
  private static <T> T writing(
      DatabaseReads reads, JsonBuffer out, BiFunction<ReadTransaction, DatabaseHandle, T> page) {
    int start = out.length();
    return reads.read(
        (tx, db) -> {
          out.truncate(start);
          return page.apply(tx, db);
        });
  }

  private FeedPage page(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedOptions options,
      FeedPosition from,
      long limit,
      boolean descending,
      JsonBuffer out) {
    if (!descending) {
      from.checkReached(tx, db);
    }
    int mostBytes = out.length() + pages.bytes();
    EntryShow show = new PageRows(tx, db, options, out, new ArrayFrame(out), mostBytes)::append;
    return pageReader(tx, db, options, descending, show)
        .read(from, limit)
        .counted(new PendingEntries(tx, db, FeedExtent.of(db.topology(), shard)));
  }

  private PageReader pageReader(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedOptions options,
      boolean descending,
      EntryShow show) {
    FeedExtent extent = FeedExtent.of(db.topology(), shard);
    return new PageReader(tx, db, extent, options, descending, pages, show);
  }

  private void checkShard(DatabaseHandle db) {
    FeedExtent.of(db.topology(), shard);
  }

  /** The position that {@code since} names, looked up where it says {@code now}. */
  public FeedPosition position(DatabaseName name, Since since) {
    return position(reads(name), since);
  }

  /** Without a look at the store where {@code since} says all. */
  FeedPosition position(DatabaseReads reads, Since since) {
    return since instanceof Since.Now
        ? reads.read((tx, db) -> position(tx, db, since))
        : given(since);
  }

  private static FeedPosition position(ReadTransaction tx, DatabaseHandle db, Since since) {
    return since instanceof Since.Now
        ? updateSequence(tx, db).map(FeedPosition::after).orElse(FeedPosition.BEGINNING)
        : given(since);
  }

  private static FeedPosition given(Since since) {
    return since instanceof Since.After after
        ? FeedPosition.after(after.sequence())
        : FeedPosition.BEGINNING;
  }

  /**
   * The whole body of a normal feed. A shard that is not there is told by its first part.
   *
   * @param limit {@link #NO_LIMIT} for all rows
   * @param descending newest first, from the end whatever {@code since} says, as CouchDB does
   */
  public NormalFeed answer(
      DatabaseName name, FeedOptions options, Since since, long limit, boolean descending) {
    Since start = descending ? new Since.Now() : since;
    return new NormalFeed(this, reads(name), options, start, limit, descending);
  }

  /**
   * The whole body of a normal feed, newest first.
   *
   * @param newest the first row at most
   */
  public NormalFeed answerDownFrom(
      DatabaseName name, FeedOptions options, Since newest, long limit) {
    return new NormalFeed(this, reads(name), options, newest, limit, true);
  }

  /** The sequence of the last change; empty if there was none. */
  public Optional<Sequence> updateSequence(DatabaseName name) {
    return reads(name).read(ChangesReader::updateSequence);
  }

  private static Optional<Sequence> updateSequence(ReadTransaction tx, DatabaseHandle db) {
    return Reads.await(new UpdateSequence(db).read(tx));
  }

  private DatabaseReads reads(DatabaseHandle life) {
    return new DatabaseReads(catalogue, transactions, life.name(), life.instance());
  }

  private DatabaseReads reads(DatabaseName name) {
    return new DatabaseReads(catalogue, transactions, name);
  }
}
