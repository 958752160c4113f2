package lectus.changes.page;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LiveSource.RowFilling;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.LiveSource.TailReader;
import lectus.changes.page.SharedRows.ViewSet;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.FilledBody;
import lectus.error.LectusException;
import lectus.store.Awaiting;

/** The changes of one life of a database, or of one of its shards, as a live source. */
final class DatabaseSource implements LiveSource<FeedPosition> {
  /** Maximum delay after which a shard's readers learn that other shards have advanced. */
  private static final long UNTOUCHED_PAUSE_MILLIS = 2_000;

  /** Replaces the level once this life is over. */
  private static final Level OVER = new Level(null);

  private final ChangesReader changes;
  private final DatabaseNotifications events;
  private final DatabaseHandle life;
  private final FeedOptions options;
  private final AtomicReference<Level> heard = new AtomicReference<>();
  private final AtomicBoolean toldLater = new AtomicBoolean();

  private record Level(Sequence sequence) {}

  /**
   * The identity of a tail. Selectors that have to be tried on each document have a tail of their
   * own, so that listeners whose filters are found by value do not wait for them; so does each
   * function.
   */
  private record Tail(
      InstanceId instance, Optional<ShardId> shard, boolean scans, Optional<Asked> asked) {}

  /** A function that filters, and whether it is asked about every leaf of a document. */
  private record Asked(FunctionFilter filter, boolean allLeaves) {
    AskedDocuments documents() {
      return new AskedDocuments(filter, allLeaves);
    }
  }

  DatabaseSource(
      ChangesReader changes,
      DatabaseNotifications events,
      DatabaseHandle life,
      FeedOptions options) {
    this.changes = changes;
    this.events = events;
    this.life = life;
    this.options = options;
  }

  @Override
  public Optional<Sharing<FeedPosition>> sharing() {
    Optional<Asked> asked = asked();
    if (options.sequenceInterval() > 1
        || asked.filter(it -> it.filter().isPersonal()).isPresent()) {
      return Optional.empty();
    }
    Tail tail = new Tail(life.instance(), changes.shard(), options.scans(), asked);
    return Optional.of(
        new Sharing<>(tail, options, () -> new EntryTail(changes, life, asked), ofEverything()));
  }

  private Optional<Asked> asked() {
    return options.filter() instanceof FunctionFilter some
        ? Optional.of(new Asked(some, options.allLeaves()))
        : Optional.empty();
  }

  /** A request that is like others may still have to be told from them. */
  @Override
  public LiveSource<FeedPosition> among(LiveSource<FeedPosition> other) {
    return asked().isPresent() ? this : other;
  }

  /**
   * Returns the source without its options, which may be large (lists of ids) and must not outlive
   * their listener.
   */
  private DatabaseSource ofEverything() {
    return new DatabaseSource(changes, events, life, FeedOptions.DEFAULT);
  }

  @Override
  public LivePage<FeedPosition> page(FeedPosition from, long limit) {
    return Awaiting.await(nextPage(from, limit));
  }

  @Override
  public CompletableFuture<LivePage<FeedPosition>> nextPage(FeedPosition from, long limit) {
    return LectusException.unlessMissing(() -> changes.livePage(life, options, from, limit))
        .orElseGet(
            () ->
                CompletableFuture.completedFuture(
                    LivePage.over(from, new FeedEnd.DatabaseDeleted())));
  }

  @Override
  public long pendingBehind(FeedPosition position) {
    return changes.pendingBehind(life, position);
  }

  @Override
  public Optional<RowFilling> filling() {
    ChangesReader reader = changes;
    DatabaseHandle database = life;
    return options.hasBytes()
        ? Optional.of(text -> FilledBody.of(reader.reads(database), text))
        : Optional.empty();
  }

  @Override
  public Registration listen(Listener listener) {
    return events.listen(
        life,
        new DatabaseNotifications.Listener() {
          @Override
          public void updated(Sequence highest, TouchedShards touched) {
            Level news = new Level(highest);
            boolean rose = heard.accumulateAndGet(news, DatabaseSource::higher) == news;
            if (isNamed(touched) || (rose && mayConcern(touched))) {
              listener.told();
            } else if (rose) {
              tellLater(listener);
            }
          }

          @Override
          public void corrected(Sequence told, Sequence highest) {
            heard.updateAndGet(level -> isUpTo(told, level) ? level : new Level(highest));
            listener.told();
          }

          @Override
          public void deleted() {
            heard.set(OVER);
            listener.told();
          }
        });
  }

  /** A higher level may have been announced earlier, for other shards. */
  private boolean isNamed(TouchedShards touched) {
    return changes.shard().filter(touched.ids()::contains).isPresent();
  }

  /** The change that replaces the deprecated shard is not among its own entries. */
  private boolean mayConcern(TouchedShards touched) {
    return changes.shard().map(it -> it.isDeprecated() || touched.mayHave(it)).orElse(true);
  }

  /**
   * A shard's readers also have to learn that only other shards got changes: some wait for a
   * sequence ({@code until}), and all then resume further ahead after a break. But not at each
   * commit: with one reader per shard, that would be a number of reads quadratic in the number of
   * shards.
   */
  private void tellLater(Listener listener) {
    if (toldLater.compareAndSet(false, true)) {
      // The listener only notes it, so the timer's thread can tell it.
      CompletableFuture.delayedExecutor(
              UNTOUCHED_PAUSE_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
          .execute(
              () -> {
                toldLater.set(false);
                listener.told();
              });
    }
  }

  private static boolean isUpTo(Sequence told, Level level) {
    return level == null || level == OVER || level.sequence().compareTo(told) < 0;
  }

  @Override
  public boolean hasNews(FeedPosition position) {
    Level level = heard.get();
    return level != null && (level == OVER || isBeyond(level, position));
  }

  /** The whole database ends, and its changes with it, or the stored feed that is read. */
  @Override
  public boolean mayHaveEnds(FeedPosition position) {
    return heard.get() == OVER
        || (options.filter() instanceof FeedFilter.OfFeed && hasNews(position));
  }

  private static boolean isBeyond(Level level, FeedPosition position) {
    return position.sequence().isEmpty()
        || level.sequence().compareTo(position.sequence().get()) > 0;
  }

  private static Level higher(Level known, Level news) {
    boolean higher =
        known == null || (known != OVER && news.sequence().compareTo(known.sequence()) > 0);
    return higher ? news : known;
  }

  /**
   * Reads the new entries of one life of a database, or of one of its shards, once for all
   * listeners, and distributes them to the views.
   */
  static final class EntryTail implements TailReader<FeedPosition> {
    private final ChangesReader changes;
    private final DatabaseHandle life;
    private final Optional<Asked> asked;
    private final ViewSet views = new ViewSet();

    EntryTail(ChangesReader changes, DatabaseHandle life, Optional<Asked> asked) {
      this.changes = changes;
      this.life = life;
      this.asked = asked;
    }

    @Override
    public void add(View view) {
      views.add(view);
    }

    @Override
    public void remove(View view) {
      views.remove(view);
    }

    /** A sequence that only one client claims must not make the others wait. */
    @Override
    public FeedPosition start(FeedPosition at) {
      return LectusException.unlessMissing(() -> changes.noFurtherThanItIs(life, at)).orElse(at);
    }

    @Override
    public TailPage<FeedPosition> page(FeedPosition from) {
      return Awaiting.await(nextPage(from));
    }

    @Override
    public CompletableFuture<TailPage<FeedPosition>> nextPage(FeedPosition from) {
      return LectusException.unlessMissing(
              () -> changes.tailPage(life, views, asked.map(Asked::documents), from))
          .orElseGet(
              () ->
                  CompletableFuture.completedFuture(
                      new TailPage<>(
                          from, Map.of(), from, true, Optional.of(new FeedEnd.DatabaseDeleted()))));
    }
  }
}
