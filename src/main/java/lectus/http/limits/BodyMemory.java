package lectus.http.limits;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of requests' bodies. A request that finds no room waits, and clients take turns. An
 * eighth of the limit is kept beside it for holders of little, and half as much for holders of very
 * little. A sole large holder is given whatever it needs, so that nothing is too large for ever.
 *
 * <p>Nobody waits for ever. Large holders say how much they will need, and one gets more only if
 * all of them can still get what they need, one after the other (the banker's algorithm). Some do
 * not know. So if all large holders wait nevertheless, the oldest is given what it waits for,
 * whatever the limit is. Small ones hold next to nothing while they wait.
 *
 * <p>Thread-safe; no method waits.
 */
public final class BodyMemory implements Measured {
  private static final Logger LOG = LoggerFactory.getLogger(BodyMemory.class);

  /** For {@link Share#expects}: taken to be {@value #GUESS} times what is held. */
  public static final long UNKNOWN = -1;

  private static final int GUESS = 4;

  /** How long others may be given room before one who needs more. */
  private static final long PASSED_OVER_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Looked at each time that there is room: nobody else waits for a longer search. */
  private static final int MAX_PASSED_OVER = 64;

  private final long limit;
  private final String whenRefused;
  private final LongSupplier nanoTime;
  private final long keptForSmall;
  private final long keptForTiny;
  private long tiny;
  private long small;
  private long large;
  private long shares;
  private long waiting;
  private long refusals;

  /** Who holds much, by what they still need, the least first. */
  private final TreeSet<Share> holders =
      new TreeSet<>(
          Comparator.comparingLong((Share share) -> share.need)
              .thenComparingLong(share -> share.number));

  /** Those of them who wait, the oldest first. */
  private final SortedMap<Long, Share> growing = new TreeMap<>();

  /** What each client holds in shares whose client is known. */
  private final Map<Object, Long> byClient = new HashMap<>();

  /** Others who wait, by whose turn it is. */
  private final Map<Line, Deque<Share>> newcomers = new LinkedHashMap<>();

  /** The requests of a client that take turns with those of others; small ones wait apart. */
  private record Line(Object client, boolean large) {}

  /**
   * @param limit in bytes of JSON, of which a multiple is made
   * @param whenRefused the sentence for those who have waited in vain
   */
  public BodyMemory(long limit, String whenRefused) {
    this(limit, whenRefused, System::nanoTime);
  }

  BodyMemory(long limit, String whenRefused, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.limit = limit;
    this.whenRefused = whenRefused;
    this.keptForSmall = MemoryAccount.keptForSmall(limit);
    this.keptForTiny = keptForSmall / 2;
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_memory_bytes", "Bytes that clients hold.", this::held);
    meters.level("lectus_memory_limit_bytes", "The most that they may hold.", this::limit);
    meters.level("lectus_memory_waiting", "Requests that wait for room.", this::waiting);
    meters.count("lectus_memory_refusals", "Times that there was no room.", this::refusals);
  }

  /** Returns the bytes of all holders. */
  public synchronized long held() {
    return tiny + small + large;
  }

  private synchronized long refusals() {
    return refusals;
  }

  public synchronized long waiting() {
    return waiting;
  }

  /** Returns the error for one who has waited in vain: service_unavailable (503). */
  public LectusException refusal() {
    return LectusException.unavailable(whenRefused);
  }

  public long limit() {
    return limit;
  }

  /** Returns what a request holds: nothing yet. */
  public synchronized Share share() {
    return new Share(++shares);
  }

  /** What one request holds. */
  public final class Share {
    private final long number;
    private long held;
    private long expected;
    private long need;
    private boolean closed;

    /** Unknown while it holds hardly anything. */
    private Object client;

    private long wanted;
    private long sinceNanos;
    private Line line;
    private Runnable granted;

    private Share(long number) {
      this.number = number;
    }

    /**
     * Says how many bytes the request will have in all, or that this is {@link #UNKNOWN}. Otherwise
     * it is taken to need no more than it has.
     */
    public void expects(long most) {
      give(
          () -> {
            count(this, held, most);
            return true;
          });
    }

    /**
     * Counts what a body that is held already is parsed into.
     *
     * @param body its bytes
     */
    public ParsedMemory parsing(long body) {
      return new ParsedMemory(BodyMemory.this, this, body);
    }

    /**
     * Whether others wait for what the request holds: it holds much, or its client holds more than
     * half of the limit and others want some.
     */
    public boolean keepsOthersWaiting() {
      synchronized (BodyMemory.this) {
        return waiting > 0
            && (held > MemoryAccount.SMALL_BYTES
                || (byClient.getOrDefault(client, 0L) > limit / 2 && othersWait(client)));
      }
    }

    /** Counts more if there is room. */
    public boolean tryGrow(long bytes) {
      synchronized (BodyMemory.this) {
        return !closed && grow(this, bytes, mayPassOthers());
      }
    }

    /**
     * Counts more, now or when it is the client's turn.
     *
     * @param client with whose requests those of others take turns, by {@code equals}
     * @param then is called once the bytes are counted, on any thread; must not block
     * @return whether they are counted already; {@code then} is not called
     */
    public boolean growOrWait(long bytes, Supplier<?> client, Runnable then) {
      synchronized (BodyMemory.this) {
        if (this.client == null && held + bytes > MemoryAccount.TINY_BYTES) {
          Object known = client.get();
          addTo(known, held);
          this.client = known;
        }
        if (closed || grow(this, bytes, mayPassOthers())) {
          return true;
        }
        wanted = bytes;
        granted = then;
        sinceNanos = nanoTime.getAsLong();
        line = new Line(client.get(), held + bytes > MemoryAccount.SMALL_BYTES);
        enter();
      }
      give(() -> true);
      return false;
    }

    private boolean mayPassOthers() {
      return held > MemoryAccount.SMALL_BYTES || newcomers.isEmpty();
    }

    private void enter() {
      waiting++;
      if (held > MemoryAccount.SMALL_BYTES) {
        growing.put(number, this);
      } else {
        newcomers.computeIfAbsent(line, none -> new ArrayDeque<>()).add(this);
      }
    }

    /** Leaves its line; the client's next request has its turn after those of others. */
    private void leave() {
      waiting -= wanted > 0 ? 1 : 0;
      wanted = 0;
      Deque<Share> others = newcomers.get(line);
      if (growing.remove(number) == null && others != null && others.remove(this)) {
        newcomers.remove(line);
        if (!others.isEmpty()) {
          newcomers.put(line, others);
        }
      }
    }

    /**
     * Waits no longer.
     *
     * @return false if the bytes are counted by now
     */
    public boolean giveUp() {
      return give(
          () -> {
            boolean waited = wanted > 0;
            leave();
            refusals += waited ? 1 : 0;
            return waited;
          });
    }

    /** Whether it takes no more. */
    public boolean isClosed() {
      synchronized (BodyMemory.this) {
        return closed;
      }
    }

    /** Gives back a part. */
    public void shrink(long bytes) {
      give(
          () -> {
            count(this, Math.max(0, held - bytes), expected);
            return true;
          });
    }

    /** Gives back everything, and takes no more. */
    public void close() {
      give(
          () -> {
            closed = true;
            leave();
            count(this, 0, 0);
            return true;
          });
    }
  }

  private boolean othersWait(Object client) {
    return newcomers.keySet().stream().anyMatch(line -> !line.client.equals(client));
  }

  /**
   * Has something given back, and gives it to those whose turn it is. Each of them is told,
   * whatever fails: nobody else would tell it before its patience ends.
   */
  private boolean give(BooleanSupplier back) {
    ArrayList<Share> told = new ArrayList<>(0);
    try {
      synchronized (this) {
        boolean result = back.getAsBoolean();
        while (waiting > 0 && grantsOne(told)) {
          // Until there is no room for another.
        }
        return result;
      }
    } finally {
      told.forEach(BodyMemory::tell);
    }
  }

  private static void tell(Share share) {
    try {
      share.granted.run();
    } catch (Throwable failure) {
      LOG.error("A request was not told that there is memory for its body", failure);
    }
  }

  private boolean grantsOne(ArrayList<Share> told) {
    // Nothing is to fail once the memory is counted.
    told.ensureCapacity(told.size() + 1);
    return grantsOneThatGrows(told) || grantsNewcomer(told);
  }

  private boolean grantsOneThatGrows(List<Share> told) {
    for (Share share : growing.values()) {
      if (grow(share, share.wanted, true)) {
        return isTold(share, told);
      }
    }
    if (growing.isEmpty() || growing.size() < holders.size()) {
      return false;
    }
    Share oldest = growing.get(growing.firstKey());
    count(oldest, oldest.held + oldest.wanted, oldest.expected);
    return isTold(oldest, told);
  }

  private boolean grantsNewcomer(List<Share> told) {
    long now = nanoTime.getAsLong();
    boolean mayPass = true;
    int passed = 0;
    for (Deque<Share> waiting : newcomers.values()) {
      Share next = waiting.element();
      if (grow(next, next.wanted, mayPass)) {
        return isTold(next, told);
      }
      passed++;
      mayPass &= now - next.sinceNanos < PASSED_OVER_NANOS && passed < MAX_PASSED_OVER;
    }
    return false;
  }

  private static boolean isTold(Share share, List<Share> told) {
    told.add(share);
    share.leave();
    return true;
  }

  /**
   * Counts more for a share if there is room.
   *
   * @param shared whether it may have what is kept for nobody
   */
  private boolean grow(Share share, long bytes, boolean shared) {
    long before = share.held;
    count(share, before + bytes, share.expected);
    boolean fits = isKept(share.held) || (shared && isThereRoom(share));
    if (!fits) {
      count(share, before, share.expected);
    }
    return fits;
  }

  private boolean isKept(long held) {
    return held <= MemoryAccount.TINY_BYTES
        ? tiny <= keptForTiny
        : held <= MemoryAccount.SMALL_BYTES && small <= keptForSmall;
  }

  private boolean isThereRoom(Share share) {
    boolean isAlone = holders.size() == 1 && holders.contains(share);
    return isAlone || (used() <= limit && canAllFinish());
  }

  private long used() {
    return large + Math.max(0, small - keptForSmall) + Math.max(0, tiny - keptForTiny);
  }

  /** Whether one after the other can have what it needs. The last one is alone, and always can. */
  private boolean canAllFinish() {
    long free = limit - used();
    int left = holders.size();
    for (Share holder : holders) {
      if (left == 1 || holders.last().need <= free) {
        return true;
      }
      if (holder.need > free) {
        return false;
      }
      free += holder.held;
      left--;
    }
    return true;
  }

  private void count(Share share, long held, long expected) {
    addTo(share.client, held - share.held);
    add(share, -1);
    holders.remove(share);
    share.held = held;
    share.expected = expected;
    long most = expected == UNKNOWN ? GUESS * held : expected;
    share.need = Math.max(0, Math.min(most, limit) - held);
    add(share, 1);
    if (held > MemoryAccount.SMALL_BYTES) {
      holders.add(share);
    }
  }

  /** Only clients that hold something have an entry. */
  private void addTo(Object client, long more) {
    if (client != null && more != 0) {
      byClient.merge(client, more, (all, added) -> all + added == 0 ? null : all + added);
    }
  }

  private void add(Share share, int sign) {
    if (share.held <= MemoryAccount.TINY_BYTES) {
      tiny += sign * share.held;
    } else if (share.held <= MemoryAccount.SMALL_BYTES) {
      small += sign * share.held;
    } else {
      large += sign * share.held;
    }
  }
}
