package lectus.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.EditFailures;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Writes.Completion;

/**
 * The edits of one request on their way through several executors: for each executor one slice
 * waits at a time, and the next one joins the queue's end when it is done. So a long request
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
    Share[] byExecutor = new Share[router.executors()];
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

  /** Once something is stored a failure is told edit by edit, or what is stored would be lost. */
  private void complete(Throwable failed) {
    if (failed == null) {
      Outcomes.tell(completion, Arrays.asList(outcomes));
    } else if (Arrays.stream(outcomes).allMatch(Objects::isNull)) {
      Outcomes.tellFailed(completion, failed);
    } else {
      tellEach(EditFailures.errorOf(failed));
    }
  }

  /** Where nobody knows of some edits, their client must not be told that nothing is stored. */
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
    Outcomes.tell(completion, Arrays.asList(outcomes));
  }

  /** The places of the edits that one executor gets. */
  private final class Share implements Completion {
    private final int executor;
    private final Deque<Integer> places = new ArrayDeque<>();
    private List<Integer> slice = List.of();

    /** Of the first slice; the others wait as long as it takes. */
    private Deadline deadline = router.deadline(completion);

    Share(int executor) {
      this.executor = executor;
    }

    void requireRoom() {
      int first = Math.min(places.size(), router.slice());
      router.requireRoom(executor, first, bytesPerEdit * first);
    }

    void submitNext() {
      List<Integer> next = new ArrayList<>();
      List<Edit> sliced = new ArrayList<>();
      while (next.size() < router.slice() && !places.isEmpty()) {
        next.add(places.peek());
        sliced.add(edits.get(places.remove()));
      }
      slice = next;
      long bytes = bytesPerEdit * sliced.size();
      router.add(executor, new PendingWrite(database, sliced, false, bytes, this, deadline));
      deadline = Deadline.NONE;
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
    public void failed(Throwable cause) {
      failure.accumulateAndGet(cause, BulkWrite::graver);
      shareDone();
    }
  }
}
