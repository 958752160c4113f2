package lectus.document.job;

import lectus.database.ShardId;
import lectus.task.RunningTask;

/** A task that this server performs. */
record HeldTask(Job job, ShardId shard, RunningTask shown) {
  void show(TaskProgress progress) {
    shown.advance(progress.documents() - shown.done());
  }
}
