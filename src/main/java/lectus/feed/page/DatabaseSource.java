package lectus.feed.page;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.feed.DatabaseEvents;
import lectus.feed.FeedEnd;
import lectus.feed.LivePage;
import lectus.feed.LiveSource;
import lectus.feed.Registration;

/** The changes of one life of a database, or of one of its shards, as a live source. */
final class DatabaseSource implements LiveSource<FeedPosition> {
  /** In the place of a level: this life is over. */
  private static final Level OVER = new Level(null);

  private final ChangesReader changes;
  private final DatabaseEvents events;
  private final DatabaseHandle life;
  private final FeedOptions options;
  private final AtomicReference<Level> heard = new AtomicReference<>();

  /**
   * @param sequence the highest one heard of
   */
  private record Level(Sequence sequence) {}

  private record Identity(InstanceId instance, Optional<ShardId> shard, FeedOptions options) {}

  DatabaseSource(
      ChangesReader changes, DatabaseEvents events, DatabaseHandle life, FeedOptions options) {
    this.changes = changes;
    this.events = events;
    this.life = life;
    this.options = options;
  }

  @Override
  public Optional<Object> identity() {
    return options.sequenceInterval() == 1
        ? Optional.of(new Identity(life.instance(), changes.shard(), options))
        : Optional.empty();
  }

  @Override
  public LivePage<FeedPosition> page(FeedPosition from, long limit) {
    try {
      return changes.livePage(life, options, from, limit);
    } catch (LectusException e) {
      if (e.error() instanceof LectusError.NotFound) {
        return LivePage.over(from, new FeedEnd.DatabaseDeleted());
      }
      throw e;
    }
  }

  @Override
  public Registration listen(Listener listener) {
    return events.listen(
        life,
        new DatabaseEvents.Listener() {
          @Override
          public void updated(Sequence highest) {
            Level news = new Level(highest);
            if (heard.accumulateAndGet(news, DatabaseSource::higher) == news) {
              listener.told();
            }
          }

          @Override
          public void deleted() {
            heard.set(OVER);
            listener.told();
          }
        });
  }

  @Override
  public boolean hasNews(FeedPosition position) {
    Level level = heard.get();
    return level != null && (level == OVER || isBeyond(level, position));
  }

  private static boolean isBeyond(Level level, FeedPosition position) {
    return position.sequence().isEmpty()
        || level.sequence().compareTo(position.sequence().get()) > 0;
  }

  private static Level higher(Level known, Level news) {
    boolean higher =
        known == null || known != OVER && news.sequence().compareTo(known.sequence()) > 0;
    return higher ? news : known;
  }
}
