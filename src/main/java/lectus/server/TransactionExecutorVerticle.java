package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.MessageConsumer;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.document.write.DocumentWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the writes of one queue into transactions, on a worker thread of its own. While commits are
 * under way, it plans the next ones, of documents that are in none of them. It waits for reads
 * alone, never for a commit or for the pause after a conflict.
 */
public final class TransactionExecutorVerticle extends VerticleBase {
  /** After so long the thread yields to the event bus and to Vert.x's check for blocked threads. */
  private static final long TURN_NANOS = 1_000_000_000;

  private static final long RETRY_MILLIS = 100;

  private static final Logger LOG = LoggerFactory.getLogger(TransactionExecutorVerticle.class);

  private final String address;
  private final WriteQueue queue;
  private final PendingBatches inFlight;
  private final Promise<Void> idle = Promise.promise();
  private MessageConsumer<String> nudges;
  private boolean stopping;

  public TransactionExecutorVerticle(
      String address, WriteQueue queue, DocumentWriter writer, UpdateAnnouncer announcer) {
    this.address = address;
    this.queue = queue;
    this.inFlight = new PendingBatches(queue, writer, announcer, this::wake);
  }

  @Override
  public Future<?> start() {
    nudges = vertx.eventBus().localConsumer(address, nudge -> drain());
    return nudges.completion();
  }

  /**
   * Commits also what was accepted from clients that do not wait for it ({@code batch=ok}), and
   * waits for every commit.
   */
  @Override
  public Future<?> stop() {
    stopping = true;
    queue.close();
    drain();
    return idle.future().eventually(() -> nudges.unregister());
  }

  /** Thread-safe. If it fails, for example for lack of memory, the next write nudges again. */
  private void wake() {
    try {
      context.runOnContext(none -> drain());
    } catch (Throwable failure) {
      queue.sleep();
      LOG.error("The executor could not be woken", failure);
    }
  }

  private void drain() {
    try {
      drainForATurn();
    } catch (Throwable failure) {
      LOG.error("No batch could be taken; the executor tries again", failure);
      vertx.setTimer(RETRY_MILLIS, timer -> drain());
    }
  }

  private void drainForATurn() {
    long turnEnd = System.nanoTime() + TURN_NANOS;
    while (takeTurn()) {
      if (System.nanoTime() - turnEnd > 0) {
        wake();
        return;
      }
    }
    if (stopping && queue.isIdle()) {
      idle.tryComplete();
    }
  }

  private boolean takeTurn() {
    QueuedBatch batch = queue.take();
    if (batch == null) {
      return false;
    }
    long begun = System.nanoTime();
    try {
      inFlight.run(batch);
    } finally {
      queue.done(batch, System.nanoTime() - begun);
    }
    return true;
  }
}
