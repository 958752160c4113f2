package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.log.UpdateSequence;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.LiveSource.RowFilling;
import lectus.changes.page.NewestFirst.Before;
import lectus.changes.page.PageReader.EntryShow;
import lectus.changes.page.PageReader.FeedPage;
import lectus.changes.page.PageReader.FirstPage;
import lectus.changes.page.PageRows.RowFrame;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.changes.page.SharedRows.ViewSet;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseRequest.DatabaseAccess;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.UserContext;
import lectus.document.DatabaseReads;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.document.RowParts.PageLimits;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Reads the changes of a database, or of one of its shards, in order (RFC 003, Access Patterns; RFC
 * 018, Read Path).
 */
public final class ChangesReader {
  /** CouchDB's limit if none is given; {@code seq_interval} counts from it. */
  public static final long NO_LIMIT = 1_000_000_000_000_000L;

  /** Bytes for the rows of one or two changes. */
  private static final int FIRST_CAPACITY = 512;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final FeedRights rights;
  private final PageLimits pages;
  private final Optional<ShardId> shard;
  private final UserContext user;

  public ChangesReader(Catalogue catalogue, TransactionRunner transactions, FeedRights rights) {
    this(catalogue, transactions, rights, PageLimits.DEFAULT);
  }

  ChangesReader(
      Catalogue catalogue, TransactionRunner transactions, FeedRights rights, PageLimits pages) {
    this(catalogue, transactions, rights, pages, Optional.empty(), UserContext.SERVER);
  }

  private ChangesReader(
      Catalogue catalogue,
      TransactionRunner transactions,
      FeedRights rights,
      PageLimits pages,
      Optional<ShardId> shard,
      UserContext user) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.rights = rights;
    this.pages = pages;
    this.shard = shard;
    this.user = user;
  }

  /**
   * Returns a reader for somebody: each of its reads fails if the user may not read the database at
   * the read's version. The pages of a live source are read for all; each says who may see it.
   */
  public ChangesReader readBy(UserContext somebody) {
    return new ChangesReader(catalogue, transactions, rights, pages, shard, somebody);
  }

  /**
   * Returns a reader of one shard alone, in any database that has it. If the shard has been
   * replaced, the end of a feed says so.
   */
  public ChangesReader ofShard(ShardId id) {
    return new ChangesReader(catalogue, transactions, rights, pages, Optional.of(id), user);
  }

  /** Returns the only shard that is read; empty for all. */
  Optional<ShardId> shard() {
    return shard;
  }

  /**
   * Opens the changes of a database for live reading. A position of an earlier life of the name, or
   * of another database that is older, becomes the beginning.
   *
   * @throws LectusException {@code not_found}: the database, or its shard; {@code bad_request}: it
   *     has not reached {@code since}; {@code feed_deleted} (412); {@code unauthorized} or {@code
   *     forbidden}
   */
  public LiveStart<FeedPosition> live(
      DatabaseName name,
      FeedOptions options,
      Since<FeedPosition> since,
      DatabaseNotifications events) {
    return reads(name)
        .read(
            (tx, life) -> {
              checkShard(life);
              FeedPosition from = position(tx, life, since).inLife(life);
              FeedOptions here = options.withoutSmallDocuments().beginning(tx, life, given(since));
              ChangesReader forAll = readBy(UserContext.SERVER);
              return new LiveStart<>(
                  new DatabaseSource(forAll, events, life, here), from.knowing(here.known()));
            });
  }

  /**
   * Reads the rows after {@code from}, oldest first, as many as one page holds.
   *
   * @throws LectusException {@code not_found} when this life of the database is over
   */
  CompletableFuture<LivePage<FeedPosition>> livePage(
      DatabaseHandle life, FeedOptions options, FeedPosition from, long limit) {
    RowsBuilder<FeedPosition> rows = new RowsBuilder<>(FIRST_CAPACITY);
    Optional<AskedDocuments> asked = asked(options);
    LivePage<FeedPosition> page =
        reads(life)
            .read(
                (tx, db) ->
                    barePage(tx, db, options, false, asked, rows, from::movedTo, from, limit)
                        .of(rows.build(), rights.readers(db)));
    return judged(asked, page, from);
  }

  private static Optional<AskedDocuments> asked(FeedOptions options) {
    return options.filter() instanceof FunctionFilter some
        ? Optional.of(new AskedDocuments(some, options.allLeaves()))
        : Optional.empty();
  }

  private static <P extends ResumePoint<P>> CompletableFuture<LivePage<P>> judged(
      Optional<AskedDocuments> asked, LivePage<P> page, P from) {
    return asked
        .map(it -> it.judge(page, from))
        .orElseGet(() -> CompletableFuture.completedFuture(page));
  }

  /**
   * Opens the changes of a database for a live form of the feed, newest first.
   *
   * @param before the bound of the newest row
   * @throws LectusException as {@link #live}
   */
  public LiveStart<Before<FeedPosition>> liveDownFrom(
      DatabaseName name, FeedOptions options, Before<FeedPosition> before) {
    return reads(name)
        .read(
            (tx, life) -> {
              checkShard(life);
              ChangesReader forAll = readBy(UserContext.SERVER);
              FeedOptions here = options.withoutSmallDocuments().in(life);
              Optional<RowFilling> filling =
                  here.hasBytes()
                      ? Optional.of(text -> FilledBody.of(forAll.reads(life), text))
                      : Optional.empty();
              NewestFirst.Pages<FeedPosition> pages =
                  (from, limit) ->
                      LectusException.unlessMissing(() -> forAll.pageDown(life, here, from, limit))
                          .orElseGet(
                              () ->
                                  CompletableFuture.completedFuture(
                                      LivePage.over(from, new FeedEnd.DatabaseDeleted())));
              return new LiveStart<>(new NewestFirst<>(pages, filling), before);
            });
  }

  private CompletableFuture<LivePage<Before<FeedPosition>>> pageDown(
      DatabaseHandle life, FeedOptions options, Before<FeedPosition> from, long limit) {
    RowsBuilder<Before<FeedPosition>> rows = new RowsBuilder<>(FIRST_CAPACITY);
    FeedPosition before = from.at().orElse(FeedPosition.BEGINNING);
    Optional<AskedDocuments> asked = asked(options);
    LivePage<Before<FeedPosition>> whole =
        reads(life)
            .read(
                (tx, db) -> {
                  FeedPage page =
                      barePage(
                              tx,
                              db,
                              options,
                              true,
                              asked,
                              rows,
                              row -> Before.entry(FeedPosition.after(row)),
                              before,
                              limit)
                          .counted(new PendingEntries(tx, db, FeedExtent.of(db.topology(), shard)));
                  boolean examined = !page.next().equals(before);
                  return new LivePage<>(
                      rows.build(),
                      examined ? Before.entry(page.next()) : from,
                      page.reachedEnd(),
                      page.pending(),
                      page.end(),
                      rights.readers(db));
                });
    return judged(asked, whole, from);
  }

  private <P extends ResumePoint<P>> FeedPage barePage(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedOptions options,
      boolean descending,
      Optional<AskedDocuments> asked,
      RowsBuilder<P> rows,
      Function<Sequence, P> point,
      FeedPosition from,
      long limit) {
    rows.clear();
    FeedOptions here = options.in(db);
    PageRows shown =
        new PageRows(tx, db, here, rows.json(), new BareRows<>(rows, point), pages.bytes());
    PageReader reader = new PageReader(tx, db, shard, here, descending, pages);
    return asked.isPresent()
        ? reader.read(asked.get().before(tx, db, shown::append), List.of(), from, limit)
        : reader.read(shown, from, limit);
  }

  /**
   * Reads what follows {@code from}, for all views of a tail.
   *
   * @param asked gets the documents that a function is asked about, if one filters for all of them
   */
  CompletableFuture<TailPage<FeedPosition>> tailPage(
      DatabaseHandle life, ViewSet views, Optional<AskedDocuments> asked, FeedPosition from) {
    TailPage<FeedPosition> whole =
        reads(life)
            .read(
                (tx, db) -> {
                  SharedRows rows = new SharedRows(tx, db, views, pages.bytes());
                  EntryShow show =
                      asked.isPresent() ? asked.get().before(tx, db, rows::append) : rows::append;
                  FeedPage page =
                      new PageReader(tx, db, shard, FeedOptions.DEFAULT, false, pages)
                          .read(show, views.filters().departing(db), from, Long.MAX_VALUE);
                  return new TailPage<>(
                      from,
                      rows.build(),
                      page.next(),
                      page.reachedEnd(),
                      page.end(),
                      rights.readers(db));
                });
    return asked
        .map(it -> it.judge(whole))
        .orElseGet(() -> CompletableFuture.completedFuture(whole));
  }

  /** Returns the database's current position, but at most {@code claimed}. */
  FeedPosition noFurtherThanItIs(DatabaseHandle life, FeedPosition claimed) {
    FeedPosition last = position(reads(life), Since.now());
    return last.compareTo(claimed) < 0 ? last : claimed;
  }

  /** Returns the body of an answer with the bytes of attachments, if the options show them. */
  public PagedBody filled(DatabaseName name, FeedOptions options, PagedBody answer) {
    return options.hasBytes() ? new FilledBody(reads(name), answer) : answer;
  }

  /** Returns the number of entries after a position, without regard to filters. */
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
   * Appends the rows after {@code from} (or before it, if newest first), as many as one page holds:
   * a few hundred kilobytes. A page may have no rows before the end if a filter excluded
   * everything.
   *
   * @param limit number of rows that the feed has left, at least 0
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
    int start = out.length();
    return reads.read(
        (tx, db) -> page(tx, db, options, from, limit, descending, out.truncate(start)));
  }

  /** Like {@link #page}; also reads the database's end in the same transaction. */
  FirstPage firstPage(
      DatabaseReads reads,
      FeedOptions options,
      FeedPosition from,
      long limit,
      boolean descending,
      JsonBuffer out) {
    int start = out.length();
    return reads.read(
        (tx, db) -> {
          CompletableFuture<Optional<Sequence>> last = new UpdateSequence(db).read(tx);
          FeedPage page = page(tx, db, options, from, limit, descending, out.truncate(start));
          boolean tellsEnd = page.reachedEnd() && !descending && shard.isEmpty();
          return new FirstPage(page, tellsEnd ? page.next() : after(Awaiting.await(last)));
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
    FeedPosition start = descending ? from : from.inLife(db);
    if (!descending) {
      start.checkReached(tx, db);
    }
    FeedOptions here = options.in(db);
    PageRows shown =
        new PageRows(tx, db, here, out, new ArrayFrame(out), out.length() + pages.bytes());
    return new PageReader(tx, db, shard, here, descending, pages)
        .read(shown, start, limit)
        .counted(new PendingEntries(tx, db, FeedExtent.of(db.topology(), shard)));
  }

  private void checkShard(DatabaseHandle db) {
    FeedExtent.of(db.topology(), shard);
  }

  /** Returns the position that {@code since} names; {@code now} is looked up. */
  public FeedPosition position(DatabaseName name, Since<FeedPosition> since) {
    return position(reads(name), since);
  }

  /**
   * Returns the options in the database for a reader that begins there; reads the store only if
   * they depend on it.
   */
  FeedOptions beginning(DatabaseReads reads, FeedOptions options, Since<FeedPosition> since) {
    return options.filter() instanceof FeedFilter.OfFeed
        ? reads.read((tx, db) -> options.beginning(tx, db, given(since)))
        : options;
  }

  /** Reads the store only if {@code since} does not say everything. */
  FeedPosition position(DatabaseReads reads, Since<FeedPosition> since) {
    return since.isNow() ? reads.read((tx, db) -> position(tx, db, since)) : given(since);
  }

  private static FeedPosition position(
      ReadTransaction tx, DatabaseHandle db, Since<FeedPosition> since) {
    return since.isNow() ? after(updateSequence(tx, db)) : given(since);
  }

  private static FeedPosition after(Optional<Sequence> last) {
    return last.map(FeedPosition::after).orElse(FeedPosition.BEGINNING);
  }

  private static FeedPosition given(Since<FeedPosition> since) {
    return since.after().orElse(FeedPosition.BEGINNING);
  }

  /**
   * Returns the whole body of a normal feed, oldest first. A missing shard is reported by its first
   * part.
   *
   * @param limit {@link #NO_LIMIT} for all rows
   */
  public NormalFeed answer(
      DatabaseName name, FeedOptions options, Since<FeedPosition> since, long limit) {
    return new NormalFeed(this, reads(name), options, since, limit, false);
  }

  /**
   * Returns the whole body of a normal feed, newest first; as in CouchDB it has no beginning,
   * whatever {@code since} says.
   *
   * @param before the bound of the newest row
   */
  public NormalFeed answerDownFrom(
      DatabaseName name, FeedOptions options, Before<FeedPosition> before, long limit) {
    Since<FeedPosition> start = Since.after(before.at().orElse(FeedPosition.BEGINNING));
    return new NormalFeed(this, reads(name), options, start, limit, true);
  }

  public Optional<Sequence> updateSequence(DatabaseName name) {
    return reads(name).read(ChangesReader::updateSequence);
  }

  private static Optional<Sequence> updateSequence(ReadTransaction tx, DatabaseHandle db) {
    return Awaiting.await(new UpdateSequence(db).read(tx));
  }

  DatabaseReads reads(DatabaseHandle life) {
    return DatabaseReads.of(catalogue, transactions, life);
  }

  private DatabaseReads reads(DatabaseName name) {
    return new DatabaseReads(catalogue, transactions, request(name));
  }

  /** Returns a database to be read by whoever may read its changes. */
  public DatabaseRequest request(DatabaseName name) {
    DatabaseAccess permit = db -> rights.check(user, db);
    return new DatabaseRequest(name, permit);
  }

  /** Writes rows as elements of an array. The caller writes the separator between pages. */
  private record ArrayFrame(JsonBuffer out) implements RowFrame {
    @Override
    public void before(int row) {
      if (row > 0) {
        FeedText.appendSeparator(out);
      }
    }

    @Override
    public void after(Sequence row) {}
  }

  /** Writes bare rows, each with the position after it. */
  private record BareRows<P extends ResumePoint<P>>(
      RowsBuilder<P> rows, Function<Sequence, P> point) implements RowFrame {
    @Override
    public void before(int row) {}

    @Override
    public void after(Sequence row) {
      rows.endRow(point.apply(row));
    }
  }
}
