package lectus.jobs;

import lectus.database.DatabaseHandle;
import lectus.database.ShardId;
import lectus.document.ReadAhead;
import lectus.document.read.DocumentsAhead;
import lectus.metrics.RunningTask;

/** A task that this server performs, with what its worker knows from the last page. */
final class HeldTask {
  private final Job job;
  private final ShardId shard;
  private final RunningTask shown;
  private final ReadAhead ahead = DocumentsAhead.learning();
  private Known known;

  /**
   * What the next page begins with, most probably.
   *
   * @param db as of the last page
   */
  record Known(DatabaseHandle db, TaskProgress progress) {}

  HeldTask(Job job, ShardId shard, RunningTask shown, Known known) {
    this.job = job;
    this.shard = shard;
    this.shown = shown;
    know(known);
  }

  Job job() {
    return job;
  }

  ShardId shard() {
    return shard;
  }

  ReadAhead ahead() {
    return ahead;
  }

  Known known() {
    return known;
  }

  void know(Known now) {
    known = now;
    shown.advance(now.progress().documents() - shown.done());
  }

  void close() {
    shown.close();
  }
}
