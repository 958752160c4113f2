package lectus.server;

import io.vertx.core.eventbus.EventBus;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import lectus.changes.notify.UpdateAnnouncer;
import lectus.document.write.DocumentWriter;
import lectus.document.write.Writes;
import lectus.metrics.Measured;
import lectus.metrics.Meters;
import lectus.server.writing.TransactionExecutorVerticle;
import lectus.server.writing.WriteQueue;
import lectus.server.writing.WriteRouter;
import lectus.server.writing.WriteSettings;

/** The queues of writes, and the executors that empty them. */
final class WritePool implements Measured {
  private final NodeSettings settings;
  private final List<WriteQueue> queues;

  WritePool(NodeSettings settings) {
    WriteSettings bounds = settings.writes();
    this.settings = settings;
    this.queues = Stream.generate(() -> new WriteQueue(bounds)).limit(bounds.executors()).toList();
  }

  List<WriteQueue> queues() {
    return queues;
  }

  @Override
  public void describe(Meters meters) {
    for (int number = 0; number < queues.size(); number++) {
      queues.get(number).describe(meters.with("executor", Integer.toString(number)));
    }
  }

  /** Whether there are edits that no transaction takes yet. */
  boolean hasToWait() {
    return queues.stream().anyMatch(WriteQueue::hasToWait);
  }

  /** Deploys an executor for each queue. */
  void start(Deployments verticles, DocumentWriter writer, UpdateAnnouncer announcer) {
    for (int number = 0; number < queues.size(); number++) {
      String address = WriteRouter.address(number);
      verticles.onThread(
          "lectus-executor-" + number,
          new TransactionExecutorVerticle(address, queues.get(number), writer, announcer));
    }
  }

  /** Returns the entrance of the pool, which chooses the queue of each edit. */
  Writes entrance(EventBus bus) {
    return new WriteRouter(
        bus,
        queues,
        settings.writes().batchEdits(),
        Duration.ofSeconds(settings.http().requestSeconds()));
  }
}
