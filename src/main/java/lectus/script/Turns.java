package lectus.script;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Predicate;
import lectus.metrics.Meters;
import lectus.script.Call.Program;
import lectus.script.Outcome.Failed;
import lectus.script.Scripts.ScriptSettings;

/** The calls of one pool, or of both, and the drivers of its children. */
final class Turns {
  /** How long a program stays in the slow lane after one of its functions took too long. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(60);

  static final String STOPS = "The server stops.";

  /** From so many slow programs on, all programs of an account count as slow. */
  private static final int MOST_SLOW = 3;

  /** Bytes of a call without its arguments. */
  private static final int CALL_BYTES = 256;

  private final String name;

  /** Children that there may be, of which one is for slow functions unless it is the only one. */
  private final int most;

  private final ScriptSettings settings;
  private final long idleNanos;
  private final Consumer<String> engines;

  /** Those with calls that wait or run, or slow programs; the first has its turn next. */
  private final Map<String, Account> accounts = new LinkedHashMap<>();

  /** Those that wait for a turn are mapped to nothing. */
  private final Map<Driver, Optional<Turn>> drivers = new HashMap<>();

  private long bytes;
  private boolean isClosed;
  private final LongAdder calls = new LongAdder();
  private final LongAdder failures = new LongAdder();
  final LongAdder starts = new LongAdder();

  /**
   * @param idleNanos how long a child without calls lasts
   * @param engines are told of the engine that a child has
   */
  Turns(String name, int most, ScriptSettings settings, long idleNanos, Consumer<String> engines) {
    this.name = name;
    this.most = most;
    this.settings = settings;
    this.idleNanos = idleNanos;
    this.engines = engines;
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
    of.level("lectus_function_waiting_bytes", "Arguments of calls that wait or run.", this::bytes);
  }

  private boolean isFastFree() {
    return running(false) < Math.max(1, most - Scripts.SLOW_LANES);
  }

  /**
   * Takes a task, unless the account has too much that waits. One task of each may always wait, so
   * that no account keeps another from its turn.
   *
   * @param isCounted whether the arguments are counted elsewhere
   */
  void add(String owner, String program, Deque<Waiting> task, boolean isCounted) {
    long its = task.stream().mapToLong(it -> it.bytes).sum();
    String refusal = most == 0 ? Scripts.NO_ROOM : STOPS;
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
          .ifPresent(
              line ->
                  drivers.put(
                      new Driver(this, line.isSlow(), settings, engines), Optional.empty()));
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
    boolean isSlowFree = running(true) < Scripts.SLOW_LANES;
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
    if (running(true) >= Scripts.SLOW_LANES) {
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

  static final class Waiting {
    final Program program;
    final Call call;
    final long bytes;
    final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private Account account;

    /** Whether a child ended while it had this call first. */
    boolean isSuspect;

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
  static final class Account {
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
  static final class Line {
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
  static final class Turn {
    final Line line;
    final Deque<Waiting> task;
    private boolean isSlow;

    /** Whether others have passed it, so that its program counts as slow until it has ended. */
    private boolean isPassed;

    Turn(Line line, Deque<Waiting> task, boolean isSlow) {
      this.line = line;
      this.task = task;
      this.isSlow = isSlow;
    }
  }
}
