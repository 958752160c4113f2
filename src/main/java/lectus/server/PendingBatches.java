package lectus.server;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.changes.page.TouchedShards;
import lectus.document.edit.Edit;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditFailures;
import lectus.document.write.PendingCommits;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.store.ReadTimeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of one executor whose commits are under way. If a commit was stored, the thread
 * that brings the store's answer completes its writes. Any other goes back to the executor's
 * thread, which runs it again or fails its writes.
 *
 * @param wake has the executor look into its queue
 */
record PendingBatches(
    WriteQueue queue, DocumentWriter writer, UpdateAnnouncer announcer, Runnable wake) {
  private static final Logger LOG = LoggerFactory.getLogger(PendingBatches.class);

  /** Does what a batch's turn is for. */
  void run(QueuedBatch batch) {
    if (batch.goesOn()) {
      goOn(batch);
    } else {
      begin(batch);
    }
  }

  /** Plans a batch and sends its commit. A failure ends this batch only. */
  private void begin(QueuedBatch batch) {
    try {
      batch.begin();
      batch.send(
          batch
              .stages()
              .during(() -> ReadTimeout.during(batch.time(), Duration.ZERO, () -> plan(batch))));
      awaitAnswer(batch);
    } catch (Throwable failure) {
      fail(batch, failure);
    }
  }

  private PendingCommits plan(QueuedBatch batch) {
    List<Edit> edits = batch.edits();
    return batch.atomic()
        ? writer.beginAtomically(batch.database(), edits, batch.verdicts())
        : writer.begin(batch.database(), edits, batch.verdicts());
  }

  private void awaitAnswer(QueuedBatch batch) {
    queue.plan(batch, batch.commits().plannedBytes());
    batch.commits().whenAnswered(() -> answered(batch));
  }

  /** Called when the store has answered. */
  private void answered(QueuedBatch batch) {
    try {
      if (batch.commits().isStored()) {
        goOn(batch);
      } else if (queue.comeBack(batch)) {
        wake.run();
      }
    } catch (Throwable failure) {
      fail(batch, failure);
    }
  }

  /** Takes the answer. A failure ends this batch only. */
  private void goOn(QueuedBatch batch) {
    Optional<WriteResult> result;
    try {
      result = batch.stages().during(batch.commits()::goOn);
      if (result.isEmpty()) {
        awaitAnswer(batch);
      }
    } catch (Throwable failure) {
      fail(batch, failure);
      return;
    }
    result.ifPresent(it -> succeed(batch, it));
  }

  private void succeed(QueuedBatch batch, WriteResult result) {
    try {
      List<ParkedWrite> parked = batch.complete(result.outcomes());
      queue.park(batch, parked);
      parked.forEach(ParkedWrite::tellIfEnded);
      announce(batch, result);
    } catch (Throwable e) {
      complain(e);
    } finally {
      land(batch);
    }
  }

  private void announce(QueuedBatch batch, WriteResult result) {
    result
        .last()
        .ifPresent(
            last ->
                announcer.publishUpdated(
                    result.instance(), batch.database(), last, new TouchedShards(result.shards())));
  }

  private void fail(QueuedBatch batch, Throwable failure) {
    try {
      batch.fail(failure);
    } catch (Throwable e) {
      complain(e);
    } finally {
      land(batch);
    }
  }

  /**
   * Whether or not the writes could be answered, their documents become free for waiting writes,
   * but for those that functions have to judge.
   */
  private void land(QueuedBatch batch) {
    boolean wakes = true;
    try {
      wakes = queue.release(batch);
    } finally {
      if (wakes) {
        wake.run();
      }
    }
    batch.parked().forEach(write -> write.ask(writer.judge(), this::resume));
  }

  /** Called when functions have judged a write, or nobody waits for it any more. */
  private void resume(ParkedWrite write) {
    boolean wakes;
    try {
      wakes = queue.resume(write);
    } catch (Throwable failure) {
      complain(failure);
      write.giveUp(EditFailures.errorOf(failure));
      wakes = queue.resume(write);
    }
    if (wakes) {
      wake.run();
    }
    write.tellIfEnded();
  }

  private static void complain(Throwable failure) {
    LOG.error("The requests of a batch could not be answered", failure);
  }
}
