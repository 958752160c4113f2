package lectus.jobs;

import java.util.Collection;

/**
 * How far a job is.
 *
 * @param documents looked at so far
 * @param rows written so far
 * @param tasksDone number of changes shards that are done
 * @param tasksUnderway number of changes shards that somebody works on
 */
public record JobProgress(Job job, long documents, long rows, long tasksDone, long tasksUnderway) {
  private static final long PERCENT = 100;

  static JobProgress of(Job job, Collection<TaskProgress> tasks) {
    return new JobProgress(
        job,
        tasks.stream().mapToLong(TaskProgress::documents).sum(),
        tasks.stream().mapToLong(TaskProgress::rows).sum(),
        tasks.stream().filter(TaskProgress::isDone).count(),
        tasks.stream().filter(it -> it.claim().isPresent()).count());
  }

  /** Returns how much of it is done. Less than all until it is over: its size is an estimate. */
  public long percent() {
    return Math.min(PERCENT - 1, PERCENT * documents / Math.max(1, job.documents()));
  }

  /** Returns the documents looked at in a second, since the beginning. */
  public long documentsPerSecond(long nowSeconds) {
    return documents / Math.max(1, nowSeconds - job.startedSeconds());
  }
}
