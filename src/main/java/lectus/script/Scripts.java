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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.script.Outcome.Failed;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs functions of design documents in child processes. Each pool has children of its own, which
 * start at the first call and end after a minute without one.
 *
 * <p>Accounts take turns in slices, and the programs of one account among each other. A call that
 * outlasts its slice while others wait goes on in the slow lane, which is one child more, and
 * another child takes the others' turns. If the slow lane is taken the call is ended after a second
 * and begun again when it has its turn there. Programs that are known as slow run in that lane
 * alone.
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
   * @param processes of each pool, beside the one for slow functions
   * @param heapMegabytes of JavaScript in one child
   * @param timeoutSeconds of one call
   * @param memory bytes of calls that wait
   * @param children how many there may be at a time; with fewer than both pools want, they share
   *     them
   */
  public record ScriptSettings(
      EngineChoice engine,
      int processes,
      int heapMegabytes,
      int timeoutSeconds,
      long memory,
      int children) {
    /** Of JavaScript, where there is memory enough. */
    public static final int USUAL_MEGABYTES = 64;

    /** With less, functions could do little. */
    private static final int LEAST_MEGABYTES = 8;

    /** Java and V8 without a function. */
    private static final int BASE_MEGABYTES = 64;

    /** With as much for each there are two, so that slow functions have one of their own. */
    private static final int USEFUL_MEGABYTES = 120;

    /** With as much for each there are more than two. */
    private static final int WANTED_MEGABYTES = 192;

    private static final int MOST_SLOTS = 16;

    /** As many children as both pools want. */
    public ScriptSettings(
        EngineChoice engine, int processes, int heapMegabytes, int timeoutSeconds, long memory) {
      this(engine, processes, heapMegabytes, timeoutSeconds, memory, wanted(processes));
    }

    private static int wanted(int processes) {
      return (processes + SLOW_LANES) * Pool.values().length;
    }

    /**
     * Returns the same with what there is room for: fewer children, and less memory for each of
     * those, or none at all.
     *
     * @param room bytes for all children
     */
    public ScriptSettings fitting(long room) {
      long megabytes = Math.max(0, room >> 20);
      long two = Math.min(2, megabytes / USEFUL_MEGABYTES);
      long more = Math.min(children, megabytes / WANTED_MEGABYTES);
      int fitting = (int) Math.max(1, Math.max(two, more));
      int heap = (int) Math.min(heapMegabytes, (megabytes / fitting - BASE_MEGABYTES) / 4);
      return heap < LEAST_MEGABYTES ? with(0, heapMegabytes) : with(fitting, heap);
    }

    /** Returns the same with as many children as there is room for, and at least one. */
    public ScriptSettings fittingAsChosen(long room) {
      return with((int) Math.max(1, Math.min(children, room / mostMemory())), heapMegabytes);
    }

    private ScriptSettings with(int fewer, int heap) {
      return new ScriptSettings(engine, processes, heap, timeoutSeconds, memory, fewer);
    }

    /**
     * Returns how large a child may become, in bytes, beside what it has of files: Java and V8 by
     * themselves, Java's heap, and twice that of JavaScript, for several design documents.
     */
    public long mostMemory() {
      int beyondUsual = Math.max(0, heapMegabytes - USUAL_MEGABYTES);
      return (long) (BASE_MEGABYTES + 4 * heapMegabytes - 2 * beyondUsual) << 20;
    }

    /** Returns the bytes that the smallest child takes. */
    public static long leastMemory() {
      return (long) (BASE_MEGABYTES + 4 * LEAST_MEGABYTES) << 20;
    }

    /** Returns the bytes that all children may take together. */
    public long memoryOfAll() {
      return mostMemory() * children;
    }

    /** Returns the size of Java's heap: of Rhino's, or of the text of the largest calls for V8. */
    int javaMegabytes() {
      int half = BASE_MEGABYTES / 2;
      return half + heapMegabytes + Math.min(half, heapMegabytes / 2);
    }

    /** Returns how many bytes the arguments of a call, or a design document, may have. */
    long longest() {
      return (long) Math.min(USUAL_MEGABYTES, heapMegabytes) << 18;
    }

    String tooLong() {
      return " takes no documents of more than " + (longest() >> 20) + " MB.";
    }

    /** Returns how many design documents a child has at a time. V8 takes some 3 MB for each. */
    int slots() {
      return Math.min(MOST_SLOTS, heapMegabytes / 4);
    }

    /** AUTO: V8 where there is a library for it. */
    public enum EngineChoice {
      AUTO,
      V8,
      RHINO
    }
  }

  private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** What a call may take while others wait and the slow lane is taken. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** How long a program stays in the slow lane after one of its functions took too long. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final String STOPS = "The server stops.";

  /** Why there are no children. */
  public static final String NO_ROOM =
      "Functions of design documents do not run here: the server's memory has no room for a child"
          + " process of "
          + (ScriptSettings.leastMemory() >> 20)
          + " MB. More memory, or \"scripts.heap-megabytes\", makes them run.";

  private static final String IN_THE_WAY = " was in the way of others.";

  /** From so many slow programs on, all programs of an account count as slow. */
  private static final int MOST_SLOW = 3;

  /** Children for slow programs, of each pool. */
  private static final int SLOW_LANES = 1;

  /** What a child may take to end a call by itself, beyond the call's time. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Between two starts that fail. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long LOOK_MILLIS = 50;

  /** Calls that a child has at a time, and bytes of them after which it gets no more. */
  private static final int MOST_SENT = 512;

  private static final long ENOUGH_SENT_BYTES = 1 << 20;

  /** Bytes of a call without its arguments. */
  private static final int CALL_BYTES = 256;

  private final ScriptSettings settings;
  private final long idleNanos;
  private volatile Optional<String> engine = Optional.empty();
  private final Map<Pool, Turns> pools = new EnumMap<>(Pool.class);

  public Scripts(ScriptSettings settings) {
    this(settings, IDLE_NANOS);
  }

  /**
   * @param idleNanos how long a child without calls lasts
   */
  Scripts(ScriptSettings settings, long idleNanos) {
    this.settings = settings;
    this.idleNanos = idleNanos;
    Turns shared = new Turns("shared", settings.children());
    for (Pool pool : Pool.values()) {
      String name = pool.name().toLowerCase(Locale.ROOT);
      boolean isOwn = settings.children() == ScriptSettings.wanted(settings.processes());
      pools.put(pool, isOwn ? new Turns(name, settings.processes() + SLOW_LANES) : shared);
    }
    tellIfOther(settings.engine(), engine());
  }

  /** Nobody who asks for V8 is to get another engine without a word. */
  static void tellIfOther(EngineChoice wanted, String engine) {
    if (wanted == EngineChoice.V8 && !engine.equals(ScriptEngine.V8.version())) {
      LOG.warn("\"scripts.engine\" is v8, which does not run here: functions run on {}.", engine);
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
    pools.get(pool).add(pool + " " + account, program.key(), task, isCounted);
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
    Set.copyOf(pools.values()).forEach(turns -> turns.describe(meters));
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

  /** A database, say: its programs, the first of which has its turn next. */
  private static final class Account {
    private final String name;
    private final Map<String, Line> lines = new LinkedHashMap<>();

    /** Of its calls that wait or run. */
    private long bytes;

    /** Until when programs are slow. */
    private final Map<String, Long> slow = new HashMap<>();

    Account(String name) {
      this.name = name;
    }

    /** Marks last until the calls that wait have been tried. */
    boolean isOver() {
      slow.entrySet().removeIf(it -> isPast(it.getValue()) && !lines.containsKey(it.getKey()));
      return lines.isEmpty() && slow.isEmpty();
    }

    static boolean isPast(long time) {
      return System.nanoTime() - time > 0;
    }
  }

  /** One program's calls that wait: tasks in their order. */
  private static final class Line {
    private final Account account;
    private final String program;
    private final Deque<Deque<Waiting>> tasks = new ArrayDeque<>();

    /** Children that are at work for it. */
    private int held;

    Line(Account account, String program) {
      this.account = account;
      this.program = program;
    }

    boolean isSlow() {
      return account.slow.containsKey(program) || account.slow.size() >= MOST_SLOW;
    }
  }

  /** What a driver has taken on until it gives it back. */
  private static final class Turn {
    private final Line line;
    private final Deque<Waiting> task;
    private boolean isSlow;

    /** Whether others have passed it, so that its program counts as slow until it has ended. */
    private boolean isPassed;

    Turn(Line line, Deque<Waiting> task, boolean isSlow) {
      this.line = line;
      this.task = task;
      this.isSlow = isSlow;
    }
  }

  /** The calls of one pool, or of both, and the drivers of its children. */
  private final class Turns {
    private final String name;

    /** Children that there may be, of which one is for slow functions unless it is the only one. */
    private final int most;

    /** Those with calls that wait or run, or slow programs; the first has its turn next. */
    private final Map<String, Account> accounts = new LinkedHashMap<>();

    /** Those that wait for a turn are mapped to nothing. */
    private final Map<Driver, Optional<Turn>> drivers = new HashMap<>();

    private long bytes;
    private boolean isClosed;
    private final LongAdder calls = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder starts = new LongAdder();

    Turns(String name, int most) {
      this.name = name;
      this.most = most;
    }

    void describe(Meters meters) {
      Meters of = meters.with("pool", name);
      of.count("lectus_function_calls", "Calls of functions that ended.", calls::sum);
      of.count(
          "lectus_function_failures",
          "Calls that took too much time or memory, or could not be run.",
          failures::sum);
      of.count(
          "lectus_function_children_started",
          "Child processes for functions that were started.",
          starts::sum);
      of.level("lectus_function_children", "Child processes for functions.", this::children);
      of.level(
          "lectus_function_waiting_bytes", "Arguments of calls that wait or run.", this::bytes);
    }

    private boolean isFastFree() {
      return running(false) < Math.max(1, most - SLOW_LANES);
    }

    /**
     * Takes a task, unless the account has too much that waits. One task of each may always wait,
     * so that no account keeps another from its turn.
     *
     * @param isCounted whether the arguments are counted elsewhere
     */
    void add(String owner, String program, Deque<Waiting> task, boolean isCounted) {
      long its = task.stream().mapToLong(it -> it.bytes).sum();
      String refusal = most == 0 ? NO_ROOM : STOPS;
      synchronized (this) {
        if (!isClosed && most > 0) {
          Account account = accounts.computeIfAbsent(owner, Account::new);
          account.isOver();
          if (isCounted || account.bytes == 0 || account.bytes + its <= settings.memory()) {
            task.forEach(it -> it.account = account);
            account.lines.computeIfAbsent(program, it -> new Line(account, it)).tasks.add(task);
            account.bytes += its;
            bytes += its;
            wake();
            return;
          }
          refusal = "Too many calls of functions wait; come back later.";
        }
      }
      for (Waiting call : task) {
        call.fail(refusal);
      }
    }

    /** Another driver takes the place of one that failed. */
    synchronized void leave(Driver driver) {
      if (drivers.remove(driver) != null) {
        wake();
      }
    }

    /** If a turn can be taken there is a driver for it. */
    private void wake() {
      if (!isClosed && drivers.size() < most) {
        due(line -> !isIdle(line.isSlow()))
            .ifPresent(line -> drivers.put(new Driver(this, line.isSlow()), Optional.empty()));
      }
      notifyAll();
    }

    private boolean isIdle(boolean isSlow) {
      return drivers.entrySet().stream()
          .anyMatch(it -> it.getValue().isEmpty() && it.getKey().isSlow == isSlow);
    }

    /** What slow functions do to a child is not to be waited for by others. */
    private boolean suits(Driver driver, Line line) {
      return driver.isSlow == line.isSlow() || (drivers.size() == most && !isIdle(line.isSlow()));
    }

    private long running(boolean isSlow) {
      return drivers.values().stream()
          .filter(it -> it.isPresent() && it.get().isSlow == isSlow)
          .count();
    }

    /** Returns whose turn it is, if a child may be at work for it. */
    private Optional<Line> due(Predicate<Line> kind) {
      boolean isFastFree = isFastFree();
      boolean isSlowFree = running(true) < SLOW_LANES;
      return waiting(
          line -> kind.test(line) && (line.isSlow() ? isSlowFree && line.held == 0 : isFastFree));
    }

    private Optional<Line> waiting(Predicate<Line> kind) {
      return accounts.values().stream()
          .flatMap(account -> account.lines.values().stream())
          .filter(line -> !line.tasks.isEmpty() && kind.test(line))
          .findFirst();
    }

    /** Waits for the driver's turn; empty if it is to end. */
    synchronized Optional<Turn> turn(Driver driver) {
      long end = System.nanoTime() + idleNanos;
      try {
        while (!isClosed) {
          Optional<Line> due = due(line -> suits(driver, line));
          if (due.isPresent()) {
            return Optional.of(take(driver, due.get()));
          }
          long millis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
          if (millis <= 0) {
            break;
          }
          wait(millis);
        }
      } catch (InterruptedException e) {
        // The server stops.
      }
      drivers.remove(driver);
      return Optional.empty();
    }

    private Turn take(Driver driver, Line line) {
      Account account = line.account;
      account.lines.remove(line.program);
      account.lines.put(line.program, line);
      accounts.remove(account.name);
      accounts.put(account.name, account);
      line.held++;
      Turn turn = new Turn(line, line.tasks.remove(), line.isSlow());
      drivers.put(driver, Optional.of(turn));
      wake();
      return turn;
    }

    /**
     * Lets others pass a call that has outlasted its slice.
     *
     * @return whether the call is to be ended for that
     */
    synchronized boolean pass(Turn turn, boolean isLong) {
      if (turn.isSlow
          || isFastFree()
          || waiting(line -> line != turn.line && !line.isSlow()).isEmpty()) {
        return false;
      }
      if (running(true) >= SLOW_LANES) {
        return isLong;
      }
      boolean isNew = !turn.line.isSlow();
      isSlow(turn);
      turn.isSlow = true;
      turn.isPassed = isNew;
      wake();
      return false;
    }

    /** Notes that a function takes too long. */
    synchronized void isSlow(Turn turn) {
      turn.isPassed = false;
      turn.line.account.slow.put(turn.line.program, System.nanoTime() + SLOW_NANOS);
      accounts.values().removeIf(Account::isOver);
    }

    /** Takes the line's next task, which may be empty. */
    synchronized Deque<Waiting> next(Line line) {
      Deque<Waiting> task = line.tasks.poll();
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

    void giveBack(Driver driver, Turn turn, Deque<Waiting> rest) {
      synchronized (this) {
        Line line = turn.line;
        drivers.replace(driver, Optional.empty());
        driver.isSlow = turn.isSlow;
        line.held--;
        Long until = line.account.slow.get(line.program);
        if (turn.isSlow && until != null && (turn.isPassed || Account.isPast(until))) {
          line.account.slow.remove(line.program);
        }
        if (!rest.isEmpty()) {
          line.tasks.addFirst(rest);
        } else if (line.held == 0 && line.tasks.isEmpty()) {
          line.account.lines.remove(line.program);
        }
        if (line.account.isOver()) {
          accounts.remove(line.account.name);
        }
        wake();
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
      List<Driver> all;
      synchronized (this) {
        isClosed = true;
        for (Account account : accounts.values()) {
          for (Line line : account.lines.values()) {
            line.tasks.forEach(rest::addAll);
            line.tasks.clear();
          }
        }
        all = List.copyOf(drivers.keySet());
        notifyAll();
      }
      all.forEach(Driver::end);
      rest.forEach(it -> it.fail(STOPS));
    }
  }

  /** Has one child at a time, gives it calls and takes its answers. */
  private final class Driver {
    private final Turns turns;

    /** Whether it is for slow functions. The turns' lock guards it. */
    private boolean isSlow;

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

    Driver(Turns turns, boolean isSlow) {
      this.turns = turns;
      this.isSlow = isSlow;
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
        refusal = Optional.of(STOPS);
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
        if (engine.isEmpty()) {
          tellIfOther(settings.engine(), started.engine());
        }
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

    private synchronized boolean isOver() {
      return isEnded;
    }

    private synchronized void have(Child started) throws IOException {
      if (isEnded) {
        started.close();
        throw new IOException(STOPS);
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
}
