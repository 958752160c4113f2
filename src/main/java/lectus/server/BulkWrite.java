package lectus.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.EditFailures;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.metrics.StageNotes;

/**
 * The edits of one request on their way through several executors. For each executor one slice
 * waits at a time; when it is done, the next one joins the end of the queue. So a long request
 * neither fills a queue nor keeps others from their turn, and edits of one document stay in order.
 */
final class BulkWrite {
  private final WriteRouter router;
  private final DatabaseName database;
  private final List<Edit> edits;
  private final long bytesPerEdit;
  private final Completion completion;
  private final EditOutcome[] outcomes;
  private final AtomicInteger executorsLeft = new AtomicInteger();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  BulkWrite(
      WriteRouter router,
      DatabaseName database,
      List<Edit> edits,
      long bytes,
      Completion completion) {
    this.router = router;
    this.database = database;
    this.edits = edits;
    this.bytesPerEdit = bytes / Math.max(1, edits.size());
    this.completion = completion;
    this.outcomes = new EditOutcome[edits.size()];
  }

  /**
   * @throws lectus.error.LectusException service_unavailable (503): a queue is full, and nothing
   *     was queued
   */
  void start() {
    List<Share> shares = shares();
    for (Share share : shares) {
      share.requireRoom();
    }
    executorsLeft.set(shares.size());
    if (shares.isEmpty()) {
      completion.written(List.of());
    }
    shares.forEach(Share::submitNext);
  }

  private List<Share> shares() {
    Share[] byExecutor = new Share[router.queues.size()];
    List<Share> shares = new ArrayList<>();
    for (int place = 0; place < edits.size(); place++) {
      int executor = router.executorOf(database, edits.get(place).id());
      if (byExecutor[executor] == null) {
        byExecutor[executor] = new Share(executor);
        shares.add(byExecutor[executor]);
      }
      byExecutor[executor].places.add(place);
    }
    return shares;
  }

  private void shareDone() {
    if (executorsLeft.decrementAndGet() == 0) {
      complete(failure.get());
    }
  }

  /**
   * Once something is stored, failures are reported edit by edit; otherwise the client would not
   * learn what is stored.
   */
  private void complete(Throwable failed) {
    if (failed == null) {
      QueuedBatch.tell(completion, Arrays.asList(outcomes));
    } else if (Arrays.stream(outcomes).allMatch(Objects::isNull)) {
      QueuedBatch.tellFailed(completion, failed);
    } else {
      tellEach(EditFailures.errorOf(failed));
    }
  }

  /** If the outcome of some edit is unknown, the client must not be told that nothing is stored. */
  private static Throwable graver(Throwable known, Throwable other) {
    boolean inDoubt =
        other instanceof LectusException told && told.error() instanceof LectusError.InDoubt;
    return known == null || inDoubt ? other : known;
  }

  private void tellEach(LectusError error) {
    for (int place = 0; place < outcomes.length; place++) {
      if (outcomes[place] == null) {
        outcomes[place] = EditFailures.of(edits.get(place), error);
      }
    }
    QueuedBatch.tell(completion, Arrays.asList(outcomes));
  }

  /** The positions of the edits that one executor gets. */
  private final class Share implements Completion {
    private final int executor;
    private final Deque<Integer> places = new ArrayDeque<>();
    private List<Integer> slice = List.of();

    /** The first slice has a deadline; the others wait as long as it takes. */
    private OptionalLong deadline = router.deadline(completion);

    Share(int executor) {
      this.executor = executor;
    }

    void requireRoom() {
      int first = Math.min(places.size(), router.slice(executor, bytesPerEdit));
      router.requireRoom(executor, first, completion.isAwaited() ? 0 : bytesPerEdit * first);
    }

    void submitNext() {
      List<Integer> next = new ArrayList<>();
      List<Edit> sliced = new ArrayList<>();
      Set<String> ids = new HashSet<>();
      int most = router.slice(executor, bytesPerEdit);
      while (next.size() < most && !places.isEmpty() && mayTake(ids, next.size())) {
        next.add(places.peek());
        sliced.add(edits.get(places.remove()));
      }
      slice = next;
      long bytes = bytesPerEdit * sliced.size();
      router.add(executor, new PendingWrite(database, sliced, false, bytes, this, deadline));
      deadline = OptionalLong.empty();
    }

    /**
     * A second edit of a document takes a transaction of its own, unless it is replicated, and the
     * executor waits for each before it begins the next. So the wide part of a slice has none.
     */
    private boolean mayTake(Set<String> ids, int taken) {
      Edit edit = edits.get(places.element());
      boolean isFirst = ids.add(edit.id());
      return isFirst || edit instanceof ReplicatedEdit || taken < router.usualSlice();
    }

    @Override
    public void written(List<EditOutcome> written) {
      for (int i = 0; i < slice.size(); i++) {
        outcomes[slice.get(i)] = written.get(i);
      }
      if (places.isEmpty() || failure.get() != null) {
        shareDone();
      } else {
        submitNext();
      }
    }

    @Override
    public boolean hasLeft() {
      return completion.hasLeft();
    }

    @Override
    public StageNotes stages() {
      return completion.stages();
    }

    @Override
    public void failed(Throwable cause) {
      failure.accumulateAndGet(cause, BulkWrite::graver);
      shareDone();
    }
  }
}
