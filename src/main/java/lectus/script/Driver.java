package lectus.script;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.metrics.DaemonThreads;
import lectus.script.Outcome.Failed;
import lectus.script.Scripts.ScriptSettings;
import lectus.script.Turns.Line;
import lectus.script.Turns.Turn;
import lectus.script.Turns.Waiting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has one child at a time, gives it calls and takes its answers. */
final class Driver {
  private static final Logger LOG = LoggerFactory.getLogger(Driver.class);

  private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** What a call may take while others wait and the slow lane is taken. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String IN_THE_WAY = " was in the way of others.";

  /** What a child may take to end a call by itself, beyond the call's time. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Between two starts that fail. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long LOOK_MILLIS = 50;

  /** Calls that a child has at a time, and bytes of them after which it gets no more. */
  private static final int MOST_SENT = 512;

  private static final long ENOUGH_SENT_BYTES = 1 << 20;

  private final Turns turns;
  private final ScriptSettings settings;
  private final Consumer<String> engines;

  /** Whether it is for slow functions. The turns' lock guards it. */
  boolean isSlow;

  private Optional<Child> child = Optional.empty();
  private Optional<Long> deadline = Optional.empty();

  /** Since when a call runs; empty: none does. */
  private Optional<Long> since = Optional.empty();

  private Optional<Turn> turn = Optional.empty();
  private boolean isLate;
  private boolean isLarge;
  private boolean isInTheWay;
  private boolean isEnded;
  private Optional<String> refusal = Optional.empty();
  private long nextStart;

  Driver(Turns turns, boolean isSlow, ScriptSettings settings, Consumer<String> engines) {
    this.turns = turns;
    this.isSlow = isSlow;
    this.settings = settings;
    this.engines = engines;
    start("lectus-functions", this::run);
    start("lectus-functions-clock", this::watch);
  }

  private void start(String name, Runnable work) {
    DaemonThreads.of(work, name).start();
  }

  private void run() {
    try {
      for (Optional<Turn> next = turns.turn(this); next.isPresent(); next = turns.turn(this)) {
        new Slice(next.get()).run();
      }
    } finally {
      end();
      turns.leave(this);
    }
  }

  private void watch() {
    while (looks()) {
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Without a clock a child could take as long as it likes. */
  private boolean looks() {
    try {
      boolean isNeeded = look();
      letPass();
      return isNeeded;
    } catch (RuntimeException | Error failure) {
      LOG.error("A child process could not be looked at.", failure);
      return true;
    }
  }

  /** Kills a child that takes too much time or memory. */
  private synchronized boolean look() {
    if (deadline.isPresent() && child.isPresent()) {
      isLate = System.nanoTime() - deadline.get() > 0;
      isLarge = child.get().isLarge();
      if (isLate || isLarge) {
        deadline = Optional.empty();
        child.get().close();
      }
    }
    return !isEnded;
  }

  /** Others need not wait longer than a slice. */
  private void letPass() {
    Optional<Long> seen;
    Optional<Turn> running;
    synchronized (this) {
      seen = since;
      running = turn;
    }
    if (seen.isEmpty() || running.isEmpty()) {
      return;
    }
    long lasted = System.nanoTime() - seen.get();
    if (lasted > SLICE_NANOS && turns.pass(running.get(), lasted > PATIENCE_NANOS)) {
      synchronized (this) {
        if (since.equals(seen) && child.isPresent()) {
          isInTheWay = true;
          deadline = Optional.empty();
          child.get().close();
        }
      }
    }
  }

  /** From here on the child has this much time. */
  private synchronized void limit(long nanos) {
    deadline = Optional.of(System.nanoTime() + nanos);
  }

  /** From here on a call runs. */
  private synchronized void begin(Turn its) {
    turn = Optional.of(its);
    since = Optional.of(System.nanoTime());
    limit(TimeUnit.SECONDS.toNanos(settings.timeoutSeconds()) + GRACE_NANOS);
  }

  /**
   * @throws IOException the child was killed
   */
  private synchronized void inTime() throws IOException {
    deadline = Optional.empty();
    since = Optional.empty();
    if (isLate || isLarge || isInTheWay) {
      throw new IOException("It was killed.");
    }
  }

  /** Drops the child, and returns what its call has done if it was killed for that. */
  private synchronized Optional<String> drop() {
    Optional<String> reason =
        isLate
            ? Optional.of(Child.TOO_LONG)
            : isLarge || child.filter(Child::ranOut).isPresent()
                ? Optional.of(Child.TOO_MUCH)
                : Optional.of(IN_THE_WAY).filter(it -> isInTheWay);
    child.ifPresent(Child::close);
    child = Optional.empty();
    deadline = Optional.empty();
    since = Optional.empty();
    isLate = false;
    isLarge = false;
    isInTheWay = false;
    return reason;
  }

  synchronized void end() {
    isEnded = true;
    drop();
  }

  /** Returns a child that is ready; empty if none can be started. */
  private Optional<Child> ready() {
    if (isOver()) {
      refusal = Optional.of(Turns.STOPS);
      return Optional.empty();
    }
    if (child.isPresent() || (refusal.isPresent() && System.nanoTime() - nextStart < 0)) {
      return child;
    }
    try {
      Child started = Child.start(settings);
      have(started);
      limit(START_NANOS);
      started.begin();
      engines.accept(started.engine());
      inTime();
      refusal = Optional.empty();
    } catch (IOException | RuntimeException | Error e) {
      drop();
      if (isOver()) {
        refusal = Optional.of(Turns.STOPS);
        return Optional.empty();
      }
      refusal = Optional.of("Functions cannot be run: no child process starts here.");
      nextStart = System.nanoTime() + RETRY_NANOS;
      LOG.warn("A child process for functions does not start.", e);
    }
    return child;
  }

  private synchronized boolean isOver() {
    return isEnded;
  }

  private synchronized void have(Child started) throws IOException {
    if (isEnded) {
      started.close();
      throw new IOException(Turns.STOPS);
    }
    child = Optional.of(started);
    turns.starts.increment();
  }

  /** What a child does for one account until the others have their turn. */
  private final class Slice {
    private final Turn turn;
    private final Line line;
    private final long begun = System.nanoTime();
    private final Deque<Waiting> sent = new ArrayDeque<>();
    private Deque<Waiting> rest;
    private long sentBytes;
    private int answered;

    Slice(Turn turn) {
      this.turn = turn;
      this.line = turn.line;
      this.rest = turn.task;
    }

    void run() {
      try {
        Optional<Child> ready = ready();
        if (ready.isEmpty()) {
          refuse();
          return;
        }
        for (send(ready.get()); !sent.isEmpty(); send(ready.get())) {
          begin(turn);
          Waiting first = sent.element();
          Outcome outcome = ready.get().answer(first.program, first.call);
          inTime();
          answered++;
          Waiting call = sent.remove();
          sentBytes -= call.bytes;
          done(call, outcome);
        }
      } catch (IOException lost) {
        lost(drop());
      } catch (RuntimeException | Error e) {
        LOG.error("A turn of functions failed.", e);
        drop();
        sent.forEach(it -> done(it, new Failed("The call could not be run.")));
      } finally {
        turns.giveBack(Driver.this, turn, rest);
      }
    }

    private void refuse() {
      for (Waiting call = next(); call != null; call = next()) {
        done(call, new Failed(refusal.orElseThrow()));
      }
    }

    private void done(Waiting call, Outcome outcome) {
      if (outcome instanceof Failed failed && failed.isCostly()) {
        turns.isSlow(turn);
      }
      turns.ended(call, outcome);
      call.outcome.complete(outcome);
    }

    /** Sends as many calls as are likely to end within the slice. */
    private void send(Child to) throws IOException {
      // A pipe that the child does not read gets full.
      begin(turn);
      long window = window();
      boolean isSuspected = sent.stream().anyMatch(it -> it.isSuspect);
      while (!isSuspected && sent.size() < window && sentBytes < ENOUGH_SENT_BYTES) {
        Waiting call = next();
        if (call == null) {
          break;
        }
        if (call.isSuspect && !sent.isEmpty()) {
          rest.addFirst(call);
          break;
        }
        if (Math.max(call.bytes, call.program.json().length) > settings.longest()) {
          done(call, call.call.failed(settings.tooLong()));
          continue;
        }
        isSuspected = call.isSuspect;
        sent.add(call);
        sentBytes += call.bytes;
        to.send(call.program, call.call);
      }
      to.flush();
      inTime();
    }

    private long window() {
      long passed = System.nanoTime() - begun;
      if (answered == 0) {
        return 1;
      }
      long each = Math.max(1, passed / answered);
      return Math.min(Math.min(MOST_SENT, 2L * answered), (SLICE_NANOS - passed) / each);
    }

    /** Returns the next call that somebody waits for; null if there is none. */
    private Waiting next() {
      while (true) {
        if (rest.isEmpty()) {
          rest = turns.next(line);
        }
        Waiting call = rest.poll();
        if (call == null || !call.outcome.isDone()) {
          return call;
        }
        turns.dropped(call);
      }
    }

    /**
     * The child has gone: its first call may be to blame, and is tried once more alone.
     *
     * @param reason why it was killed; empty: it ended by itself
     */
    private void lost(Optional<String> reason) {
      Waiting first = sent.poll();
      if (reason.equals(Optional.of(IN_THE_WAY))) {
        turns.isSlow(turn);
      }
      if (first != null && reason.equals(Optional.of(IN_THE_WAY))) {
        sent.addFirst(first);
      } else if (first != null) {
        if (first.isSuspect || reason.equals(Optional.of(Child.TOO_LONG))) {
          done(first, first.call.failed(reason.orElse(Child.ENDED)));
        } else {
          first.isSuspect = true;
          sent.addFirst(first);
        }
      }
      while (!sent.isEmpty()) {
        rest.addFirst(sent.removeLast());
      }
    }
  }
}
