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
import lectus.metrics.StageNotes;
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

  /** Plans a batch and sends its commit. A failure ends this batch only. */
  void begin(QueuedBatch batch) {
    Flight flight;
    try {
      flight = new Flight(batch);
    } catch (Throwable failure) {
      fail(batch, failure);
      return;
    }
    flight.begin();
  }

  private PendingCommits plan(QueuedBatch batch) {
    List<Edit> edits = batch.edits();
    return batch.atomic()
        ? writer.beginAtomically(batch.database(), edits, batch.verdicts())
        : writer.begin(batch.database(), edits, batch.verdicts());
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

  /** One batch, from its planning until its requests are answered. */
  private final class Flight implements Runnable {
    private final QueuedBatch batch;
    private final StageNotes stages;
    private PendingCommits write;

    Flight(QueuedBatch batch) {
      this.batch = batch;
      this.stages = batch.begun();
    }

    void begin() {
      try {
        write =
            stages.during(() -> ReadTimeout.during(batch.time(), Duration.ZERO, () -> plan(batch)));
        awaitAnswer();
      } catch (Throwable failure) {
        fail(batch, failure);
      }
    }

    private void awaitAnswer() {
      queue.plan(batch, write.plannedBytes());
      write.whenAnswered(this);
    }

    /** Called when the store has answered. */
    @Override
    public void run() {
      try {
        if (write.isStored()) {
          goOn();
        } else if (queue.comeBack(batch, this::goOn)) {
          wake.run();
        }
      } catch (Throwable failure) {
        fail(batch, failure);
      }
    }

    /** Takes the answer. A failure ends this batch only. */
    private void goOn() {
      Optional<WriteResult> result;
      try {
        result = stages.during(write::goOn);
        if (result.isEmpty()) {
          awaitAnswer();
        }
      } catch (Throwable failure) {
        fail(batch, failure);
        return;
      }
      result.ifPresent(this::succeed);
    }

    private void succeed(WriteResult result) {
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
  }
}
