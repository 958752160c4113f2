package lectus.server;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import lectus.http.ReaderTurns.Droppable;
import lectus.http.ReaderTurns.Impatient;
import lectus.http.ReaderTurns.Kind;

/**
 * What waits for the readers' threads, and what comes next. Requests and feeds alternate where both
 * wait, and feeds run on a part of the threads only. Of the feeds live tails come first, because
 * many listeners wait for each; then what a client waits for that has nothing yet; further pages of
 * what is long come last. For one thread at a time.
 */
final class ReaderQueue {
  /**
   * Who has something waiting may have more, up to this part of what is left of half of the room.
   * So a single client gets far, many share, and the other half is for those who have nothing yet.
   */
  private static final int CLIENT_PART = 10;

  private final int mostWaiting;
  private final int feedsAtOnce;
  private final Map<Kind, ClientLine> lines = new EnumMap<>(Kind.class);
  private final RankedLines requests;
  private final RankedLines feeds;
  private int feedsRunning;
  private boolean feedWasLast;

  /** What a thread does next. */
  static final class Turn {
    private final boolean isFeed;
    private Runnable work;

    private Turn(boolean isFeed) {
      this.isFeed = isFeed;
    }

    Runnable work() {
      return work;
    }

    boolean isFeed() {
      return isFeed;
    }
  }

  /**
   * @param mostWaiting for all clients together
   * @param feedsAtOnce threads that feeds may have
   */
  ReaderQueue(int mostWaiting, int feedsAtOnce) {
    this.mostWaiting = mostWaiting;
    this.feedsAtOnce = feedsAtOnce;
    for (Kind kind : Kind.values()) {
      lines.put(kind, new ClientLine());
    }
    this.requests = new RankedLines(lines.get(Kind.REQUEST), lines.get(Kind.LONG_ANSWER));
    this.feeds =
        new RankedLines(lines.get(Kind.LIVE_TAIL), lines.get(Kind.FEED), lines.get(Kind.LONG_FEED));
  }

  /**
   * @throws RejectedExecutionException too much waits already, for this client or for all
   */
  void add(Object client, Kind kind, Runnable work) {
    ClientLine line = lines.get(kind);
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

  /** What waits, but for the live tails' pages, of which there are no more than tails. */
  private int waiting() {
    int count = 0;
    for (ClientLine line : lines.values()) {
      count += line.size();
    }
    return count - lines.get(Kind.LIVE_TAIL).size();
  }

  /** Each tail takes turns like a client. */
  void addTail(Runnable work) {
    lines.get(Kind.LIVE_TAIL).add(work, work);
  }

  /** Whether there is something that a thread may begin with. */
  boolean hasNext() {
    return mayServeFeed() || !requests.isEmpty();
  }

  /** What is to be done now; not without {@link #hasNext}. */
  Turn next() {
    feedWasLast = mayServeFeed() && (!feedWasLast || requests.isEmpty());
    // Made before anything is taken: what throws here, for want of memory, loses no work.
    Turn turn = new Turn(feedWasLast);
    turn.work = (feedWasLast ? feeds : requests).take();
    feedsRunning += feedWasLast ? 1 : 0;
    return turn;
  }

  private boolean mayServeFeed() {
    return feedsRunning < feedsAtOnce && !feeds.isEmpty();
  }

  /** A feed's turn is over. */
  void feedDone() {
    feedsRunning--;
  }

  /**
   * Takes out what waits in vain.
   *
   * @param given gets it, also where memory runs out on the way
   */
  void giveUp(Predicate<Impatient> inVain, List<Impatient> given) {
    lines.values().forEach(line -> line.giveUp(inVain, given));
  }

  /** Takes out what a client that has left wants no more. */
  List<Droppable> drop(Object client) {
    List<Droppable> dropped = new ArrayList<>();
    for (ClientLine line : lines.values()) {
      dropped.addAll(line.drop(client));
    }
    return dropped;
  }
}
