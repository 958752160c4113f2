package lectus.changes.page;

import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseHandle;

/**
 * Reads the new entries of one life of a database, or of one of its shards, once for all listeners,
 * and distributes them to the views.
 */
final class EntryTail implements TailReader<FeedPosition> {
  private final ChangesReader changes;
  private final DatabaseHandle life;
  private final ViewSet views = new ViewSet();

  EntryTail(ChangesReader changes, DatabaseHandle life) {
    this.changes = changes;
    this.life = life;
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
    return DatabaseInstanceReads.read(() -> changes.noFurtherThanItIs(life, at), () -> at);
  }

  @Override
  public TailPage<FeedPosition> page(FeedPosition from) {
    return DatabaseInstanceReads.read(
        () -> changes.tailPage(life, views, from),
        () ->
            new TailPage<>(from, Map.of(), from, true, Optional.of(new FeedEnd.DatabaseDeleted())));
  }
}
