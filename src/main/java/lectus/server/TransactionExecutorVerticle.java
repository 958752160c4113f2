package lectus.server;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.List;
import lectus.document.edit.Edit;
import lectus.document.write.DocumentWriter;
import lectus.document.write.WriteResult;
import lectus.feed.TouchedShards;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns what waits in one queue into transactions, one after the other on a worker thread of its
 * own. While one commits, the next batch gathers by itself.
 */
final class TransactionExecutorVerticle extends VerticleBase {
  /** After so long it lets the event bus in, and Vert.x see that the thread is not stuck. */
  private static final long TURN_NANOS = 1_000_000_000;

  private static final long RETRY_MILLIS = 100;

  private static final Logger LOG = LoggerFactory.getLogger(TransactionExecutorVerticle.class);

  private final String address;
  private final WriteQueue queue;
  private final DocumentWriter writer;
  private final UpdateAnnouncer announcer;
  private MessageConsumer<String> nudges;

  TransactionExecutorVerticle(
      String address, WriteQueue queue, DocumentWriter writer, UpdateAnnouncer announcer) {
    this.address = address;
    this.queue = queue;
    this.writer = writer;
    this.announcer = announcer;
  }

  @Override
  public Future<?> start() {
    nudges = vertx.eventBus().localConsumer(address, nudge -> drain());
    return nudges.completion();
  }

  /** What was taken from clients that do not wait for it ({@code batch=ok}) is committed, too. */
  @Override
  public Future<?> stop() {
    for (WriteBatch batch = queue.take(); batch != null; batch = queue.take()) {
      commitOrLog(batch);
    }
    return nudges.unregister();
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
    for (WriteBatch batch = queue.take(); batch != null; batch = queue.take()) {
      commitOrLog(batch);
      if (System.nanoTime() - turnEnd > 0) {
        context.runOnContext(none -> drain());
        return;
      }
    }
  }

  /** Whatever one batch comes to, the next one gets its turn: nobody nudges for it again. */
  private void commitOrLog(WriteBatch batch) {
    try {
      commit(batch);
    } catch (Throwable e) {
      LOG.error("Nobody could be told of a batch", e);
    }
  }

  private void commit(WriteBatch batch) {
    WriteResult result;
    try {
      result = write(batch);
    } catch (Throwable failure) {
      batch.fail(failure);
      return;
    }
    batch.complete(result.outcomes());
    result
        .last()
        .ifPresent(
            last ->
                announcer.publishUpdated(
                    result.instance(), batch.database(), last, new TouchedShards(result.shards())));
  }

  private WriteResult write(WriteBatch batch) {
    List<Edit> edits = batch.edits();
    return batch.atomic()
        ? writer.writeAtomically(batch.database(), edits)
        : writer.write(batch.database(), edits);
  }
}
