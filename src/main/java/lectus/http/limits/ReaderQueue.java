package lectus.http.limits;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import lectus.http.limits.ReaderTurns.Droppable;
import lectus.http.limits.ReaderTurns.Impatient;
import lectus.http.limits.ReaderTurns.Kind;

/**
 * The work that waits for the readers' threads, and its order. Feeds are slow, and so are requests
 * with large bodies: they get only a part of the threads, and alternate with other requests where
 * both wait. Among slow work, live tails come first, because many listeners wait for each. Next is
 * work whose client has nothing yet, bodies before feeds, which may have a costly selector. Further
 * pages of long answers come last. For one thread at a time.
 */
final class ReaderQueue {
  /**
   * A client with waiting work may add more, up to this fraction of the remainder of half of the
   * room. So a single client gets far, many share, and the other half is for clients that have
   * nothing waiting.
   */
  private static final int CLIENT_PART = 10;

  private final int mostWaiting;
  private final int slowAtOnce;
  private final Map<Kind, ClientQueue> lines = new EnumMap<>(Kind.class);
  private final RankedQueues requests;
  private final RankedQueues slow;
  private int slowRunning;
  private boolean slowWasLast;

  /** The next work of a thread. */
  static final class Turn {
    private final boolean isSlow;
    private Runnable work;

    private Turn(boolean isSlow) {
      this.isSlow = isSlow;
    }

    Runnable work() {
      return work;
    }

    boolean isSlow() {
      return isSlow;
    }
  }

  /**
   * @param mostWaiting for all clients together
   * @param slowAtOnce threads that slow work may have
   */
  ReaderQueue(int mostWaiting, int slowAtOnce) {
    this.mostWaiting = mostWaiting;
    this.slowAtOnce = slowAtOnce;
    for (Kind kind : Kind.values()) {
      lines.put(kind, new ClientQueue());
    }
    this.requests = new RankedQueues(lines.get(Kind.REQUEST), lines.get(Kind.LONG_ANSWER));
    this.slow =
        new RankedQueues(
            lines.get(Kind.LIVE_TAIL),
            lines.get(Kind.LARGE_BODY),
            lines.get(Kind.FEED),
            lines.get(Kind.LONG_FEED));
  }

  /**
   * @throws RejectedExecutionException too much waits already, for this client or for all
   */
  void add(Object client, Kind kind, Runnable work) {
    ClientQueue line = lines.get(kind);
    if (isTooMuch(line.count(client))) {
      throw new RejectedExecutionException("Too much waits for the readers");
    }
    line.add(client, work);
  }

  private boolean isTooMuch(int ofClient) {
    int waiting = waiting();
    return ofClient == 0
        ? waiting >= mostWaiting
        : ofClient >= (mostWaiting / 2 - waiting) / CLIENT_PART;
  }

  /**
   * Returns how much waits, without the live tails' pages: there are no more of them than tails.
   */
  int waiting() {
    int count = 0;
    for (ClientQueue line : lines.values()) {
      count += line.size();
    }
    return count - lines.get(Kind.LIVE_TAIL).size();
  }

  /** Each tail takes turns like a client. */
  void addTail(Runnable work) {
    lines.get(Kind.LIVE_TAIL).add(work, work);
  }

  /** Whether a thread may begin some work. */
  boolean hasNext() {
    return mayServeSlow() || !requests.isEmpty();
  }

  /** Returns the next work; only if {@link #hasNext}. */
  Turn next() {
    slowWasLast = mayServeSlow() && (!slowWasLast || requests.isEmpty());
    // Created before anything is taken: if memory runs out here, no work is lost.
    Turn turn = new Turn(slowWasLast);
    turn.work = (slowWasLast ? slow : requests).take();
    slowRunning += slowWasLast ? 1 : 0;
    return turn;
  }

  private boolean mayServeSlow() {
    return slowRunning < slowAtOnce && !slow.isEmpty();
  }

  /** Notes that slow work is done. */
  void slowDone() {
    slowRunning--;
  }

  /**
   * Removes work that waits in vain.
   *
   * @param given receives it, even if memory runs out on the way
   */
  void giveUp(Predicate<Impatient> inVain, List<Impatient> given) {
    lines.values().forEach(line -> line.giveUp(inVain, given));
  }

  /** Removes the droppable work of a client that has left. */
  List<Droppable> drop(Object client) {
    List<Droppable> dropped = new ArrayList<>();
    for (ClientQueue line : lines.values()) {
      dropped.addAll(line.drop(client));
    }
    return dropped;
  }

  /**
   * Lines in order of priority. One that was passed over too often comes first once, so that none
   * starves. For one thread at a time.
   */
  private static final class RankedQueues {
    /** How often in a row a line may be passed over, unless others have waited as long. */
    static final int PATIENCE = 7;

    private final List<ClientQueue> lines;

    RankedQueues(ClientQueue... lines) {
      this.lines = List.of(lines);
    }

    boolean isEmpty() {
      for (ClientQueue line : lines) {
        if (!line.isEmpty()) {
          return false;
        }
      }
      return true;
    }

    /** Returns work of the line whose turn it is; not all lines may be empty. */
    Runnable take() {
      ClientQueue chosen = null;
      for (ClientQueue line : lines) {
        if (!line.isEmpty() && (chosen == null || isOverdue(line, chosen))) {
          chosen = line;
        }
      }
      for (ClientQueue line : lines) {
        if (line != chosen && !line.isEmpty()) {
          line.passOver();
        }
      }
      return chosen.take();
    }

    private static boolean isOverdue(ClientQueue line, ClientQueue chosen) {
      return line.passedOver() >= PATIENCE && line.passedOver() > chosen.passedOver();
    }
  }
}
