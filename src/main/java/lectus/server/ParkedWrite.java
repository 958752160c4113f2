package lectus.server;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lectus.document.write.Judge;
import lectus.document.write.Judge.Verdict;
import lectus.document.write.UnjudgedEdits;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * A write that functions have to judge before its transaction. Its documents stay reserved, and no
 * executor waits for it.
 */
final class ParkedWrite {
  private static final LectusError NOT_JUDGED =
      new LectusError.Unavailable("The document could not be validated.");

  private final PendingWrite write;
  private final long bytes;
  private volatile UnjudgedEdits left;
  private volatile boolean postponed;
  private volatile List<CompletableFuture<Verdict>> answers = List.of();
  private volatile LectusError givenUp;
  private volatile Runnable then = () -> {};
  private final AtomicBoolean ended = new AtomicBoolean();

  ParkedWrite(PendingWrite write, UnjudgedEdits left) {
    this.write = write;
    this.left = left;
    this.bytes = left.bytes() + own();
  }

  PendingWrite write() {
    return write;
  }

  UnjudgedEdits left() {
    return left;
  }

  /** Returns the memory of the edits, if it is not counted with the request. */
  private long own() {
    return write.completion().isAwaited() ? 0 : write.bytes();
  }

  /** Returns the memory that it needs to be judged, beside what is counted with the request. */
  long bytes() {
    return bytes;
  }

  long held() {
    return postponed ? own() : bytes;
  }

  /** Lets go of the questions, for which there is no memory. For the queue. */
  void postpone() {
    postponed = true;
    left = left.unanswered();
  }

  boolean isPostponed() {
    return postponed;
  }

  /**
   * Has the questions answered, unless it is postponed.
   *
   * @param resume called on any thread when all are, or when it is given up
   */
  void ask(Judge judge, Consumer<ParkedWrite> resume) {
    then = () -> resume.accept(this);
    if (postponed) {
      if (givenUp != null) {
        then.run();
      }
      return;
    }
    List<CompletableFuture<Verdict>> asked = answersOf(judge);
    AtomicInteger open = new AtomicInteger(1 + asked.size());
    Runnable one =
        () -> {
          if (open.decrementAndGet() == 0) {
            then.run();
          }
        };
    asked.forEach(
        answer ->
            answer.whenComplete(
                (verdict, failure) -> {
                  givenUp = failure == null || givenUp != null ? givenUp : NOT_JUDGED;
                  one.run();
                }));
    one.run();
  }

  private List<CompletableFuture<Verdict>> answersOf(Judge judge) {
    try {
      answers = judge.judge(left.questions());
      if (givenUp != null) {
        answers.forEach(answer -> answer.cancel(false));
      }
    } catch (Throwable failure) {
      givenUp = NOT_JUDGED;
    }
    return answers;
  }

  /** Returns the write as it is planned next; call it when all questions are answered. */
  PendingWrite next() {
    return write.judged(
        postponed ? left : left.answered(answers.stream().map(it -> it.getNow(null)).toList()));
  }

  /** Asks nothing further. The write comes back and {@linkplain #tellIfEnded fails}. */
  void giveUp(LectusError why) {
    givenUp = why;
    answers.forEach(answer -> answer.cancel(false));
    if (postponed) {
      then.run();
    }
  }

  boolean isGivenUp() {
    return givenUp != null;
  }

  /** Notes that it has come back to fail. For the queue. */
  void end() {
    ended.set(true);
  }

  /** Tells the client, once, if the write is not made. */
  void tellIfEnded() {
    if (!ended.getAndSet(false)) {
      return;
    }
    if (left.areOthersDone()) {
      QueuedBatch.tell(write.completion(), left.failed(givenUp));
    } else {
      QueuedBatch.tellFailed(write.completion(), new LectusException(givenUp));
    }
  }
}
