package lectus.server;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lectus.document.write.Judge;
import lectus.document.write.Judge.Verdict;
import lectus.document.write.UnjudgedEdits;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.server.QueuedBatch.Outcomes;

/**
 * A write that functions have to judge before its transaction. Its documents stay reserved, and no
 * executor waits for it.
 */
final class ParkedWrite {
  private final PendingWrite write;
  private final UnjudgedEdits left;
  private final long bytes;
  private volatile List<CompletableFuture<Verdict>> answers = List.of();
  private volatile LectusError givenUp;

  ParkedWrite(PendingWrite write, UnjudgedEdits left) {
    this.write = write;
    this.left = left;
    this.bytes = left.bytes() + (write.completion().isAwaited() ? 0 : write.bytes());
  }

  PendingWrite write() {
    return write;
  }

  UnjudgedEdits left() {
    return left;
  }

  /** Returns the memory that is not counted with the request. */
  long bytes() {
    return bytes;
  }

  /**
   * Has the questions answered.
   *
   * @param then called once, on any thread, when all are
   */
  void ask(Judge judge, Consumer<ParkedWrite> then) {
    List<CompletableFuture<Verdict>> asked = answersOf(judge);
    AtomicInteger open = new AtomicInteger(1 + asked.size());
    Runnable one =
        () -> {
          if (open.decrementAndGet() == 0) {
            then.accept(this);
          }
        };
    asked.forEach(answer -> answer.whenComplete((verdict, failure) -> one.run()));
    one.run();
  }

  private List<CompletableFuture<Verdict>> answersOf(Judge judge) {
    try {
      answers = judge.judge(left.questions());
      if (givenUp != null) {
        answers.forEach(answer -> answer.cancel(false));
      }
    } catch (Throwable failure) {
      givenUp = new LectusError.Unavailable("The document could not be validated.");
    }
    return answers;
  }

  /** Returns the write with what was answered; call it when all questions are. */
  PendingWrite judged() {
    return write.judged(left.answered(answers.stream().map(it -> it.getNow(null)).toList()));
  }

  /** Asks nothing further. The write comes back and {@linkplain #tellIfGivenUp fails}. */
  void giveUp(LectusError why) {
    givenUp = why;
    answers.forEach(answer -> answer.cancel(false));
  }

  boolean isGivenUp() {
    return givenUp != null;
  }

  /** Tells the client, if the write is not made. */
  void tellIfGivenUp() {
    LectusError why = givenUp;
    if (why != null && left.areOthersDone()) {
      Outcomes.tell(write.completion(), left.failed(why));
    } else if (why != null) {
      Outcomes.tellFailed(write.completion(), new LectusException(why));
    }
  }
}
