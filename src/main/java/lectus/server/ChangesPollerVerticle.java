package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.feed.ChangesReader;
import lectus.server.DatabaseEvent.Deleted;
import lectus.server.DatabaseEvent.Updated;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The safety net below the event bus. It relays what the bus says to this node's listeners, and
 * looks for itself at the databases that somebody listens to: quickly while they move, slowly while
 * they do not.
 */
final class ChangesPollerVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(ChangesPollerVerticle.class);
  private static final long BUSY_MILLIS = 100;
  private static final long IDLE_MILLIS = 2_000;

  private final String storeId;
  private final Catalogue catalogue;
  private final ChangesReader changes;
  private final ListenerRegistry listeners;
  private final Map<InstanceId, Sequence> seen = new HashMap<>();
  private long pauseMillis = IDLE_MILLIS;

  ChangesPollerVerticle(
      String storeId, Catalogue catalogue, ChangesReader changes, ListenerRegistry listeners) {
    this.storeId = storeId;
    this.catalogue = catalogue;
    this.changes = changes;
    this.listeners = listeners;
  }

  @Override
  public Future<?> start() {
    List<Future<?>> consumers = new ArrayList<>();
    for (int number = 0; number < DatabaseEvent.ADDRESSES; number++) {
      consumers.add(
          vertx
              .eventBus()
              .<DatabaseEvent>consumer(DatabaseEvent.address(number), this::relay)
              .completion());
    }
    schedule();
    return Future.all(consumers);
  }

  private void relay(Message<DatabaseEvent> message) {
    DatabaseEvent event = message.body();
    if (event.storeId().equals(storeId)) {
      listeners.tell(event.instance(), event.happening());
    }
  }

  private void schedule() {
    vertx.setTimer(pauseMillis, timer -> pollAndGoOn());
  }

  private void pollAndGoOn() {
    List<DatabaseHandle> databases = listeners.databases();
    seen.keySet().retainAll(databases.stream().map(DatabaseHandle::instance).toList());
    boolean moved = false;
    for (DatabaseHandle database : databases) {
      moved |= poll(database);
    }
    pauseMillis = moved ? BUSY_MILLIS : Math.min(IDLE_MILLIS, 2 * pauseMillis);
    schedule();
  }

  /** Whether the database has moved since the last look. */
  private boolean poll(DatabaseHandle database) {
    try {
      return catalogue.open(database.name()).instance().equals(database.instance())
          ? look(database)
          : over(database);
    } catch (LectusException e) {
      return e.error() instanceof LectusError.NotFound && over(database);
    } catch (RuntimeException e) {
      LOG.warn("database={} could not be polled", database.name(), e);
      return false;
    }
  }

  private boolean look(DatabaseHandle database) {
    Optional<Sequence> last = changes.updateSequence(database.name());
    if (last.isEmpty() || last.get().equals(seen.put(database.instance(), last.get()))) {
      return false;
    }
    listeners.tell(database.instance(), new Updated(last.get()));
    return true;
  }

  private boolean over(DatabaseHandle database) {
    listeners.tell(database.instance(), new Deleted());
    return true;
  }
}
