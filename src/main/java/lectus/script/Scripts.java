package lectus.script;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.script.Call.Program;
import lectus.script.Scripts.ScriptSettings.EngineChoice;
import lectus.script.Turns.Waiting;
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

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Why there are no children. */
  public static final String NO_ROOM =
      ("Functions of design documents do not run here: the server's memory has no room for a child"
              + " process of %s MB. More memory, or \"scripts.heap-megabytes\", makes them run.")
          .formatted(ScriptSettings.leastMemory() >> 20);

  /** Children for slow programs, of each pool. */
  static final int SLOW_LANES = 1;

  private final ScriptSettings settings;
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
    int each = settings.processes() + SLOW_LANES;
    boolean areShared = settings.children() < ScriptSettings.wanted(settings.processes());
    Turns shared = turns("shared", settings.children(), idleNanos);
    for (Pool pool : Pool.values()) {
      String name = pool.name().toLowerCase(Locale.ROOT);
      pools.put(pool, areShared ? shared : turns(name, each, idleNanos));
    }
    tellIfOther(settings.engine(), engine());
  }

  private Turns turns(String name, int most, long idleNanos) {
    return new Turns(name, most, settings, idleNanos, this::started);
  }

  private void started(String its) {
    if (engine.isEmpty()) {
      tellIfOther(settings.engine(), its);
    }
    engine = Optional.of(its);
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
}
