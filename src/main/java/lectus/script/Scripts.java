package lectus.script;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.script.Outcome.Failed;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs functions of design documents in child processes. Each pool has children of its own, which
 * start at the first call and end after a minute without one. Accounts take turns in slices.
 */
public final class Scripts implements AutoCloseable, Measured {
  private static final Logger LOG = LoggerFactory.getLogger(Scripts.class);

  /** Whether a client waits for a call, or a view. */
  public enum Pool {
    INTERACTIVE,
    BACKGROUND
  }

  /**
   * @param engine which one children have
   * @param processes of each pool
   * @param heapMegabytes of JavaScript in one child
   * @param timeoutSeconds of one call
   * @param memory bytes of calls that wait
   */
  public record ScriptSettings(
      EngineChoice engine, int processes, int heapMegabytes, int timeoutSeconds, long memory) {
    /** Java's own heap in a child. */
    static final int JAVA_MEGABYTES = 64;

    /** Code of Java and V8, and what V8 takes for each design document. */
    private static final int CODE_MEGABYTES = 160;

    /**
     * Returns how large a child may become, in bytes. V8 reserves half a gigabyte of addresses for
     * each design document, so no limit of the system on these would do.
     */
    public long mostMemory() {
      return (JAVA_MEGABYTES + CODE_MEGABYTES + 2L * heapMegabytes) << 20;
    }

    /** Returns the size of Java's heap: of Rhino's, or of the text of the largest calls for V8. */
    int javaMegabytes() {
      return JAVA_MEGABYTES + heapMegabytes;
    }

    /** Returns the bytes that all children may take together. */
    public long memoryOfAll() {
      return mostMemory() * processes * Pool.values().length;
    }

    /** AUTO: V8 where there is a library for it. */
    public enum EngineChoice {
      AUTO,
      V8,
      RHINO
    }
  }

  private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** How long an account has one child at a time after one of its functions took too long. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** What a child may take to end a call by itself, beyond the call's time. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Between two starts that fail. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long LOOK_MILLIS = 50;

  /** Calls that a child has at a time, and bytes of them after which it gets no more. */
  private static final int MOST_SENT = 512;

  private static final long ENOUGH_SENT_BYTES = 1 << 20;

  /** Bytes of a call's arguments, and of a design document. */
  private static final long LONGEST = 16 << 20;

  /** Bytes of a call without its arguments. */
  private static final int CALL_BYTES = 256;

  private final ScriptSettings settings;
  private volatile Optional<String> engine = Optional.empty();
  private final Map<Pool, Turns> pools = new EnumMap<>(Pool.class);

  public Scripts(ScriptSettings settings) {
    this.settings = settings;
    for (Pool pool : Pool.values()) {
      pools.put(pool, new Turns());
    }
  }

  /**
   * Runs calls of one program in their order. Never blocks and never throws: each future ends as
   * soon as its call is done, on a thread that must not be made to wait. A future that is cancelled
   * drops its call, unless that has begun.
   *
   * @param account whose turn it is
   */
  public List<CompletableFuture<Outcome>> run(
      Pool pool, String account, Program program, List<Call> calls) {
    Deque<Waiting> task = new ArrayDeque<>();
    for (Call call : calls) {
      task.add(new Waiting(program, call));
    }
    List<CompletableFuture<Outcome>> outcomes = task.stream().map(it -> it.outcome).toList();
    // Steps hold the documents that they map, and parked writes are counted, with their questions.
    boolean isCounted =
        pool == Pool.BACKGROUND || calls.stream().allMatch(it -> it.kind() == Kind.VALIDATE);
    pools.get(pool).add(account, task, isCounted);
    return outcomes;
  }

  /** Returns which engine a child has, or the one that it is going to have. */
  public String engine() {
    return engine.orElseGet(
        () ->
            settings.engine() == EngineChoice.RHINO || ScriptEngine.V8.packed().isEmpty()
                ? ScriptEngine.Rhino.version()
                : ScriptEngine.V8.version());
  }

  @Override
  public void describe(Meters meters) {
    pools.forEach(
        (pool, turns) -> {
          Meters of = meters.with("pool", pool.name().toLowerCase(Locale.ROOT));
          of.count("lectus_function_calls", "Calls of functions that ended.", turns.calls::sum);
          of.count(
              "lectus_function_failures",
              "Calls that took too much time or memory, or could not be run.",
              turns.failures::sum);
          of.count(
              "lectus_function_children_started",
              "Child processes for functions that were started.",
              turns.starts::sum);
          of.level("lectus_function_children", "Child processes for functions.", turns::children);
          of.level(
              "lectus_function_waiting_bytes",
              "Arguments of calls that wait or run.",
              turns::bytes);
        });
  }

  /** Ends all children; what waits fails. */
  @Override
  public void close() {
    pools.values().forEach(Turns::close);
  }

  private static final class Waiting {
    private final Program program;
    private final Call call;
    private final long bytes;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private Account account;

    /** Whether a child ended while it had this call first. */
    private boolean isSuspect;

    Waiting(Program program, Call call) {
      this.program = program;
      this.call = call;
      this.bytes = CALL_BYTES + call.arguments().stream().mapToLong(it -> it.length).sum();
    }

    void fail(String reason) {
      outcome.complete(new Failed(reason));
    }
  }

  /** An account's calls that wait: tasks in their order. */
  private static final class Account {
    private final String name;
    private final Deque<Deque<Waiting>> tasks = new ArrayDeque<>();

    /** Children that are at work for it. */
    private int held;

    /** Of its calls that wait or run. */
    private long bytes;

    Account(String name) {
      this.name = name;
    }
  }

  /** The calls of one pool, and the drivers of its children. */
  private final class Turns {
    /** Those with calls that wait or run; the first has its turn next. */
    private final Map<String, Account> accounts = new LinkedHashMap<>();

    /** Until when an account has one child at a time. */
    private final Map<String, Long> slow = new HashMap<>();

    private final List<Driver> drivers = new ArrayList<>();
    private int idle;
    private long bytes;
    private boolean isClosed;
    private final LongAdder calls = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder starts = new LongAdder();

    /**
     * Takes a task, unless the account has too much that waits. One task of each may always wait,
     * so that no account keeps another from its turn.
     *
     * @param isCounted whether the arguments are counted elsewhere
     */
    void add(String name, Deque<Waiting> task, boolean isCounted) {
      long its = task.stream().mapToLong(it -> it.bytes).sum();
      String refusal = "The server stops.";
      synchronized (this) {
        if (!isClosed) {
          Account account = accounts.computeIfAbsent(name, Account::new);
          if (isCounted || account.bytes == 0 || account.bytes + its <= settings.memory()) {
            task.forEach(it -> it.account = account);
            account.tasks.add(task);
            account.bytes += its;
            bytes += its;
            drive();
            notifyAll();
            return;
          }
          refusal = "Too many calls of functions wait; come back later.";
        }
      }
      for (Waiting call : task) {
        call.fail(refusal);
      }
    }

    private void drive() {
      if (idle == 0 && drivers.size() < settings.processes()) {
        drivers.add(new Driver(this));
      }
    }

    /** Another driver takes the place of one that failed. */
    synchronized void leave(Driver driver) {
      if (drivers.remove(driver) && !isClosed && !accounts.isEmpty()) {
        drive();
      }
    }

    /** Waits for the account whose turn it is; empty if the driver is to end. */
    synchronized Optional<Account> turn(Driver driver) {
      long end = System.nanoTime() + IDLE_NANOS;
      idle++;
      try {
        while (!isClosed) {
          for (Account account : accounts.values()) {
            if (!account.tasks.isEmpty() && !(account.held > 0 && isSlow(account))) {
              accounts.remove(account.name);
              accounts.put(account.name, account);
              account.held++;
              return Optional.of(account);
            }
          }
          long millis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
          if (millis <= 0) {
            break;
          }
          wait(millis);
        }
      } catch (InterruptedException e) {
        // The server stops.
      } finally {
        idle--;
      }
      drivers.remove(driver);
      return Optional.empty();
    }

    private boolean isSlow(Account account) {
      slow.values().removeIf(until -> System.nanoTime() - until > 0);
      return slow.containsKey(account.name);
    }

    synchronized void tookTooLong(Account account) {
      slow.put(account.name, System.nanoTime() + SLOW_NANOS);
    }

    /** Takes the account's next task, which may be empty. */
    synchronized Deque<Waiting> next(Account account) {
      Deque<Waiting> task = account.tasks.poll();
      return task == null ? new ArrayDeque<>() : task;
    }

    void ended(Waiting call, Outcome outcome) {
      calls.increment();
      if (outcome instanceof Failed) {
        failures.increment();
      }
      dropped(call);
    }

    synchronized void dropped(Waiting call) {
      call.account.bytes -= call.bytes;
      bytes -= call.bytes;
    }

    void giveBack(Account account, Deque<Waiting> rest) {
      synchronized (this) {
        account.held--;
        if (!rest.isEmpty()) {
          account.tasks.addFirst(rest);
        } else if (account.held == 0 && account.tasks.isEmpty()) {
          accounts.remove(account.name);
        }
        notifyAll();
        if (!isClosed) {
          return;
        }
      }
      close();
    }

    synchronized long bytes() {
      return bytes;
    }

    synchronized int children() {
      return drivers.size();
    }

    void close() {
      List<Waiting> rest = new ArrayList<>();
      synchronized (this) {
        isClosed = true;
        accounts.values().forEach(it -> it.tasks.forEach(rest::addAll));
        accounts.values().forEach(it -> it.tasks.clear());
        drivers.forEach(Driver::end);
        notifyAll();
      }
      rest.forEach(it -> it.fail("The server stops."));
    }
  }

  /** Has one child at a time, gives it calls and takes its answers. */
  private final class Driver {
    private final Turns turns;
    private Optional<Child> child = Optional.empty();
    private Optional<Long> deadline = Optional.empty();
    private boolean isLate;
    private boolean isLarge;
    private boolean isEnded;
    private Optional<String> refusal = Optional.empty();
    private long nextStart;

    Driver(Turns turns) {
      this.turns = turns;
      start("lectus-functions", this::run);
      start("lectus-functions-clock", this::watch);
    }

    private void start(String name, Runnable work) {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        for (Optional<Account> turn = turns.turn(this); turn.isPresent(); turn = turns.turn(this)) {
          new Slice(turn.get()).run();
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
        return look();
      } catch (RuntimeException | Error failure) {
        LOG.error("A child process could not be looked at.", failure);
        return true;
      }
    }

    /** Kills a child that takes too much time or memory. */
    private synchronized boolean look() {
      if (deadline.isPresent() && child.isPresent()) {
        isLate = System.nanoTime() - deadline.get() > 0;
        isLarge = child.get().memory() > settings.mostMemory();
        if (isLate || isLarge) {
          deadline = Optional.empty();
          child.get().close();
        }
      }
      return !isEnded;
    }

    /** From here on the child has this much time. */
    private synchronized void limit(long nanos) {
      deadline = Optional.of(System.nanoTime() + nanos);
    }

    /**
     * @throws IOException the child was killed
     */
    private synchronized void inTime() throws IOException {
      deadline = Optional.empty();
      if (isLate || isLarge) {
        throw new IOException("It was killed.");
      }
    }

    /** Drops the child, and returns what its call has done if it was killed for that. */
    private synchronized Optional<String> drop() {
      Optional<String> reason =
          isLate ? Optional.of(Child.TOO_LONG) : Optional.of(Child.TOO_MUCH).filter(it -> isLarge);
      child.ifPresent(Child::close);
      child = Optional.empty();
      deadline = Optional.empty();
      isLate = false;
      isLarge = false;
      return reason;
    }

    synchronized void end() {
      isEnded = true;
      drop();
    }

    /** Returns a child that is ready; empty if none can be started. */
    private Optional<Child> ready() {
      if (child.isPresent() || (refusal.isPresent() && System.nanoTime() - nextStart < 0)) {
        return child;
      }
      try {
        Child started = Child.start(settings);
        have(started);
        limit(START_NANOS);
        started.begin();
        engine = Optional.of(started.engine());
        inTime();
        refusal = Optional.empty();
      } catch (IOException | RuntimeException | Error e) {
        drop();
        refusal = Optional.of("Functions cannot be run: no child process starts here.");
        nextStart = System.nanoTime() + RETRY_NANOS;
        LOG.warn("A child process for functions does not start.", e);
      }
      return child;
    }

    private synchronized void have(Child started) throws IOException {
      if (isEnded) {
        started.close();
        throw new IOException("The server stops.");
      }
      child = Optional.of(started);
      turns.starts.increment();
    }

    /** What a child does for one account until the others have their turn. */
    private final class Slice {
      private final Account account;
      private final long begun = System.nanoTime();
      private final Deque<Waiting> sent = new ArrayDeque<>();
      private Deque<Waiting> rest = new ArrayDeque<>();
      private long sentBytes;
      private int answered;

      Slice(Account account) {
        this.account = account;
      }

      void run() {
        try {
          Optional<Child> ready = ready();
          if (ready.isEmpty()) {
            refuse();
            return;
          }
          for (send(ready.get()); !sent.isEmpty(); send(ready.get())) {
            limitCall();
            Outcome outcome = ready.get().answer(account.name, sent.element().call);
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
          turns.giveBack(account, rest);
        }
      }

      private void refuse() {
        for (Waiting call = next(); call != null; call = next()) {
          done(call, new Failed(refusal.orElseThrow()));
        }
      }

      private void done(Waiting call, Outcome outcome) {
        if (outcome instanceof Failed failed && failed.reason().endsWith(Child.TOO_LONG)) {
          turns.tookTooLong(account);
        }
        turns.ended(call, outcome);
        call.outcome.complete(outcome);
      }

      /** Sends as many calls as are likely to end within the slice. */
      private void send(Child to) throws IOException {
        // A pipe that the child does not read gets full.
        limitCall();
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
          if (Math.max(call.bytes, call.program.json().length) > LONGEST) {
            done(call, call.call.failed(" takes no documents of more than 16 MB."));
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

      private void limitCall() {
        limit(TimeUnit.SECONDS.toNanos(settings.timeoutSeconds()) + GRACE_NANOS);
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
            rest = turns.next(account);
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
        if (first != null) {
          if (first.isSuspect || reason.equals(Optional.of(Child.TOO_LONG))) {
            done(first, first.call.failed(reason.orElse(" ended its process.")));
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
}
