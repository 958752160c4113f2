package lectus.jobs;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.FilledShards;
import lectus.database.Generation;
import lectus.database.ShardId;
import lectus.store.Awaiting;

/**
 * The tasks of a job that are not done, as of one read version: one for each changes shard that has
 * entries, of each generation that began before the job.
 *
 * <p>Nothing is stored of a task before it begins. So resharding needs not know of jobs: what a
 * later generation has was written by those who keep what is filled; an older generation that is
 * empty has nothing to fill, whether it is still described or not, and stays empty.
 */
final class OpenTasks {
  private OpenTasks() {}

  /** A task that is not done. */
  record Open(ShardId shard, TaskProgress progress) {}

  /** Snapshot reads: what is done stays done for as long as the job is there. */
  static List<Open> of(ReadTransaction tx, DatabaseHandle db, Job job) {
    CompletableFuture<FilledShards> filled = FilledShards.read(tx, db);
    Map<ShardId, TaskProgress> begun =
        Awaiting.await(new JobTasksSubspace(db).all(tx, job.kind(), job.number()));
    List<Open> open = new ArrayList<>();
    for (Generation generation : db.topology().generations()) {
      for (ShardId shard : began(generation, job) ? generation.shards() : List.<ShardId>of()) {
        TaskProgress progress = begun.getOrDefault(shard, TaskProgress.NONE);
        if (!progress.isDone() && Awaiting.await(filled).has(shard)) {
          open.add(new Open(shard, progress));
        }
      }
    }
    return open;
  }

  private static boolean began(Generation generation, Job job) {
    return generation.since().filter(it -> it.compareTo(job.until()) > 0).isEmpty();
  }
}
