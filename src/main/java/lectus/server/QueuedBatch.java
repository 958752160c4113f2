package lectus.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.document.edit.Edit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Judge.Verdict;
import lectus.document.write.PendingCommits;
import lectus.document.write.UnjudgedEdits;
import lectus.document.write.Writes.Completion;
import lectus.metrics.StageNotes;
import lectus.store.ReadTimeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The writes of one transaction: they waited for the same database, and keep their order. */
final class QueuedBatch {
  private static final Logger LOG = LoggerFactory.getLogger(QueuedBatch.class);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  private final ClientWrites lane;
  private final List<PendingWrite> writes;
  private final int size;
  private final long bytes;

  /** Who is told of its transaction, once it is begun. */
  private StageNotes stages;

  private PendingCommits commits;

  /** Whether its transaction went on after an answer. For the queue. */
  private boolean goesOn;

  /** Memory of what is planned for its transaction. For the queue. */
  private long plannedBytes;

  /** Its writes that functions have to judge. For the queue. */
  private List<ParkedWrite> parked = List.of();

  /**
   * @param lane in which they waited
   */
  QueuedBatch(ClientWrites lane, List<PendingWrite> writes) {
    this.lane = lane;
    this.writes = writes;
    this.size = writes.stream().mapToInt(write -> write.edits().size()).sum();
    this.bytes = writes.stream().mapToLong(PendingWrite::bytes).sum();
  }

  ClientWrites lane() {
    return lane;
  }

  List<PendingWrite> writes() {
    return writes;
  }

  boolean goesOn() {
    return goesOn;
  }

  void goOn() {
    goesOn = true;
  }

  long plannedBytes() {
    return plannedBytes;
  }

  void plan(long bytes) {
    plannedBytes = bytes;
  }

  List<ParkedWrite> parked() {
    return parked;
  }

  void park(List<ParkedWrite> some) {
    parked = some;
  }

  DatabaseName database() {
    return writes.get(0).database();
  }

  int size() {
    return size;
  }

  /** Returns the approximate memory, in bytes. */
  long bytes() {
    return bytes;
  }

  /** Returns the time that its transaction has before the first client has to be answered. */
  Duration time() {
    long now = System.nanoTime();
    long least = LONGEST.toNanos();
    for (PendingWrite write : writes) {
      least = Math.min(least, write.deadline().orElse(now + least) - now);
    }
    return Duration.ofNanos(least).minus(ReadTimeout.FOR_SETTLING);
  }

  /** Notes that the writes wait no more. */
  void begin() {
    List<StageNotes> told = new ArrayList<>(writes.size());
    for (PendingWrite write : writes) {
      write.taken();
      told.add(write.completion().stages());
    }
    stages = StageNotes.together(told);
  }

  StageNotes stages() {
    return stages;
  }

  void send(PendingCommits sent) {
    commits = sent;
  }

  PendingCommits commits() {
    return commits;
  }

  boolean atomic() {
    return writes.get(0).atomic();
  }

  List<Edit> edits() {
    if (writes.size() == 1) {
      return writes.get(0).edits();
    }
    List<Edit> edits = new ArrayList<>(writes.size());
    writes.forEach(write -> edits.addAll(write.edits()));
    return edits;
  }

  /** Returns what functions have said of the edits, in their order; none if none was asked. */
  List<Verdict> verdicts() {
    if (writes.stream().allMatch(write -> write.judged().isEmpty())) {
      return List.of();
    }
    List<Verdict> verdicts = new ArrayList<>(size);
    for (PendingWrite write : writes) {
      verdicts.addAll(
          write
              .judged()
              .map(UnjudgedEdits::verdicts)
              .orElseGet(() -> Collections.nCopies(write.edits().size(), null)));
    }
    return verdicts;
  }

  /**
   * Completes each request with its own share of the outcomes.
   *
   * @return those that functions have to judge first
   */
  List<ParkedWrite> complete(List<EditOutcome> outcomes) {
    List<ParkedWrite> parked = new ArrayList<>(0);
    int from = 0;
    for (PendingWrite write : writes) {
      int to = from + write.edits().size();
      List<EditOutcome> its = outcomes.subList(from, to);
      try {
        complete(write, its).ifPresent(parked::add);
      } catch (RuntimeException | Error failure) {
        tellFailed(write.completion(), failure);
      }
      from = to;
    }
    return parked;
  }

  private static Optional<ParkedWrite> complete(PendingWrite write, List<EditOutcome> outcomes) {
    if (outcomes.stream().noneMatch(EditOutcome.Unjudged.class::isInstance)) {
      tell(write.completion(), outcomes);
      return Optional.empty();
    }
    UnjudgedEdits left = UnjudgedEdits.of(write.edits(), outcomes, write.atomic(), write.judged());
    if (left.areContended()) {
      tell(write.completion(), left.contended());
      return Optional.empty();
    }
    return Optional.of(new ParkedWrite(write, left));
  }

  void fail(Throwable failure) {
    writes.forEach(write -> tellFailed(write.completion(), failure));
  }

  /**
   * Completes a request with the outcomes of its edits. If that throws, even for lack of memory for
   * the answer, only that request fails.
   */
  static void tell(Completion request, List<EditOutcome> outcomes) {
    try {
      request.written(outcomes);
    } catch (RuntimeException | Error failure) {
      tellFailed(request, failure);
    }
  }

  static void tellFailed(Completion request, Throwable failure) {
    try {
      request.failed(failure);
    } catch (RuntimeException | Error e) {
      LOG.error("A request could not be completed with its outcomes", e);
    }
  }
}
