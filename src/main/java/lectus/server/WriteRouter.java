package lectus.server;

import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.Writes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the executor of each edit by a hash of database and document, so that edits of one
 * document queue up in memory instead of conflicting in the store.
 */
public final class WriteRouter implements Writes {
  /** Carries no data: the work is in the queue. */
  private static final String NUDGE = "";

  private static final DeliveryOptions LOCAL = new DeliveryOptions().setLocalOnly(true);

  private static final Logger LOG = LoggerFactory.getLogger(WriteRouter.class);

  private final EventBus bus;
  final List<WriteQueue> queues;
  private final int slice;
  private final Duration patience;

  /**
   * @param queues one for each executor
   * @param slice edits of one request that wait as one, so that others get their turn between them;
   *     more while hardly anything waits
   * @param patience how long a request waits for its first transaction
   */
  public WriteRouter(EventBus bus, List<WriteQueue> queues, int slice, Duration patience) {
    this.bus = bus;
    this.queues = List.copyOf(queues);
    this.slice = slice;
    this.patience = patience;
  }

  /** Returns the address at which the executor with this number is nudged. */
  public static String address(int executor) {
    return "lectus.writes." + executor;
  }

  @Override
  public void write(DatabaseName database, Edit edit, long bytes, Completion completion) {
    PendingWrite write =
        new PendingWrite(database, List.of(edit), false, bytes, completion, deadline(completion));
    offer(executorOf(database, edit.id()), write);
  }

  @Override
  public void writeAtomically(
      DatabaseName database, List<Edit> edits, long bytes, Completion completion) {
    PendingWrite write =
        new PendingWrite(database, edits, true, bytes, completion, deadline(completion));
    offer(executorOf(database, edits.get(0).id()), write);
  }

  @Override
  public void writeAll(DatabaseName database, List<Edit> edits, long bytes, Completion completion) {
    new BulkWrite(this, database, edits, bytes, completion).start();
  }

  /** Returns the deadline, counted from now, of a request that its client waits for. */
  OptionalLong deadline(Completion completion) {
    return completion.isAwaited()
        ? OptionalLong.of(System.nanoTime() + patience.toNanos())
        : OptionalLong.empty();
  }

  private void offer(int executor, PendingWrite write) {
    if (queues.get(executor).offer(write)) {
      nudge(executor);
    }
  }

  /** Queues a part of a request for which there was room. */
  void add(int executor, PendingWrite write) {
    if (queues.get(executor).add(write)) {
      nudge(executor);
    }
  }

  void requireRoom(int executor, int edits, long bytes) {
    queues.get(executor).requireRoom(edits, bytes);
  }

  /** If it fails, for example for lack of memory, the next write nudges again. */
  private void nudge(int executor) {
    try {
      bus.send(address(executor), NUDGE, LOCAL);
    } catch (Throwable failure) {
      queues.get(executor).sleep();
      LOG.error("An executor could not be nudged", failure);
    }
  }

  /** Returns how many edits of one request may wait as one slice at any time. */
  int usualSlice() {
    return slice;
  }

  /** Returns how many edits of one request may wait for the executor as one slice now. */
  int slice(int executor, long bytesPerEdit) {
    return queues.get(executor).slice(slice, bytesPerEdit);
  }

  int executorOf(DatabaseName database, String id) {
    int hash = 31 * database.text().hashCode() + id.hashCode();
    return Math.floorMod(hash ^ hash >>> 16, queues.size());
  }
}
