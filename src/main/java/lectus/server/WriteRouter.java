package lectus.server;

import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import java.util.List;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.http.Writes;

/**
 * Chooses the executor of each edit by a hash of database and document, so that edits of one
 * document queue behind each other in memory instead of colliding in the store.
 */
final class WriteRouter implements Writes {
  /** Carries no data: what is to be done lies in the queue. */
  private static final String NUDGE = "";

  private static final DeliveryOptions LOCAL = new DeliveryOptions().setLocalOnly(true);

  private final EventBus bus;
  private final List<WriteQueue> queues;
  private final int slice;

  /**
   * @param queues one for each executor
   * @param slice edits of one request that wait as one, so that others get their turn between them
   */
  WriteRouter(EventBus bus, List<WriteQueue> queues, int slice) {
    this.bus = bus;
    this.queues = List.copyOf(queues);
    this.slice = slice;
  }

  /** Where the executor with this number is nudged. */
  static String address(int executor) {
    return "lectus.writes." + executor;
  }

  @Override
  public void write(DatabaseName database, Edit edit, long bytes, Completion completion) {
    PendingWrite write = new PendingWrite(database, List.of(edit), false, bytes, completion);
    offer(executorOf(database, edit.id()), write);
  }

  @Override
  public void writeAtomically(
      DatabaseName database, List<Edit> edits, long bytes, Completion completion) {
    PendingWrite write = new PendingWrite(database, edits, true, bytes, completion);
    offer(executorOf(database, edits.get(0).id()), write);
  }

  @Override
  public void writeAll(DatabaseName database, List<Edit> edits, long bytes, Completion completion) {
    new BulkWrite(this, database, edits, bytes, completion).start();
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

  private void nudge(int executor) {
    bus.send(address(executor), NUDGE, LOCAL);
  }

  int executors() {
    return queues.size();
  }

  int slice() {
    return slice;
  }

  int executorOf(DatabaseName database, String id) {
    int hash = 31 * database.text().hashCode() + id.hashCode();
    return Math.floorMod(hash ^ hash >>> 16, queues.size());
  }
}
