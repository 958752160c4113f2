package lectus.jobs;

import com.apple.foundationdb.ReadTransaction;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/** Which documents a job has passed, as of one read version. */
public final class TasksPassed {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final CompletableFuture<Map<ShardId, TaskProgress>> tasks;

  public TasksPassed(ReadTransaction tx, DatabaseHandle db, JobKind kind, long number) {
    this.tx = tx;
    this.db = db;
    this.tasks = new JobTasksSubspace(db).all(tx, kind, number);
  }

  /** Whether the task of the document's shard has passed its last edit. */
  public boolean hasPassed(String docId) {
    Optional<EditBranch> winner =
        Awaiting.await(new RevisionsSubspace(db).winner(tx.snapshot(), docId));
    return winner.isPresent() && hasPassed(docId, winner.get().winner().sequence());
  }

  private boolean hasPassed(String docId, Sequence sequence) {
    ShardId shard = db.topology().shardAt(docId, sequence);
    TaskProgress progress = Awaiting.await(tasks).getOrDefault(shard, TaskProgress.NONE);
    return progress.hasPassed(sequence);
  }
}
