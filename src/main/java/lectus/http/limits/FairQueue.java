package lectus.http.limits;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import lectus.http.limits.RequestThreads.Kind;
import lectus.http.limits.RequestThreads.Work;

/**
 * The work that waits for the readers' threads, and its order. Feeds are slow, and so are requests
 * with large bodies: they get only a part of the threads, and alternate with other requests where
 * both wait. Among slow work, live tails come first, because many listeners wait for each. Next is
 * work whose client has nothing yet, bodies before feeds, which may have a costly selector. Further
 * pages of long answers come last. For one thread at a time.
 */
final class FairQueue {
  /**
   * A client with waiting work may add more, up to this fraction of the remainder of half of the
   * room. So a single client gets far, many share, and the other half is for clients that have
   * nothing waiting.
   */
  private static final int CLIENT_PART = 10;

  /** How often in a row a kind may be passed over, unless others have waited as long. */
  private static final int MAX_PASSED_OVER = 7;

  private final int maxWaiting;
  private final int slowAtOnce;
  private final Map<Kind, OfKind> kinds = new EnumMap<>(Kind.class);

  /** In order of priority. */
  private final List<OfKind> requests;

  private final List<OfKind> slow;
  private int slowRunning;
  private boolean slowWasLast;

  /** The next work of a thread. */
  static final class Next {
    private final boolean isSlow;
    private Runnable work;

    private Next(boolean isSlow) {
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
   * @param maxWaiting for all clients together
   * @param slowAtOnce threads that slow work may have
   */
  FairQueue(int maxWaiting, int slowAtOnce) {
    this.maxWaiting = maxWaiting;
    this.slowAtOnce = slowAtOnce;
    for (Kind kind : Kind.values()) {
      kinds.put(kind, new OfKind());
    }
    this.requests = List.of(kinds.get(Kind.REQUEST), kinds.get(Kind.LONG_ANSWER));
    this.slow =
        List.of(
            kinds.get(Kind.LIVE_TAIL),
            kinds.get(Kind.LARGE_BODY),
            kinds.get(Kind.FEED),
            kinds.get(Kind.LONG_FEED));
  }

  /**
   * @throws RejectedExecutionException too much waits already, for this client or for all
   */
  void add(Object client, Kind kind, Runnable work) {
    OfKind waiting = kinds.get(kind);
    if (isTooMuch(waiting.count(client))) {
      throw new RejectedExecutionException("Too much waits for the readers");
    }
    waiting.add(client, work);
  }

  private boolean isTooMuch(int ofClient) {
    int waiting = waiting();
    return ofClient == 0
        ? waiting >= maxWaiting
        : ofClient >= (maxWaiting / 2 - waiting) / CLIENT_PART;
  }

  /**
   * Returns how much waits, without the live tails' pages: there are no more of them than tails.
   */
  int waiting() {
    int count = 0;
    for (OfKind kind : kinds.values()) {
      count += kind.size;
    }
    return count - kinds.get(Kind.LIVE_TAIL).size;
  }

  /** Each tail is served like a client. */
  void addTail(Runnable work) {
    kinds.get(Kind.LIVE_TAIL).add(work, work);
  }

  /** Whether a thread may begin some work. */
  boolean hasNext() {
    return mayServeSlow() || !areEmpty(requests);
  }

  /** Returns the next work; only if {@link #hasNext}. */
  Next next() {
    slowWasLast = mayServeSlow() && (!slowWasLast || areEmpty(requests));
    // Created before anything is taken: if memory runs out here, no work is lost.
    Next next = new Next(slowWasLast);
    next.work = takeFirst(slowWasLast ? slow : requests);
    slowRunning += slowWasLast ? 1 : 0;
    return next;
  }

  private boolean mayServeSlow() {
    return slowRunning < slowAtOnce && !areEmpty(slow);
  }

  private static boolean areEmpty(List<OfKind> kinds) {
    for (OfKind kind : kinds) {
      if (kind.size > 0) {
        return false;
      }
    }
    return true;
  }

  /** A kind that was passed over too often comes first once, so that none starves. */
  private static Runnable takeFirst(List<OfKind> ranked) {
    OfKind chosen = null;
    for (OfKind kind : ranked) {
      if (kind.size > 0 && (chosen == null || kind.isOverdueBefore(chosen))) {
        chosen = kind;
      }
    }
    for (OfKind kind : ranked) {
      if (kind != chosen && kind.size > 0) {
        kind.passedOver++;
      }
    }
    return chosen.take();
  }

  void slowDone() {
    slowRunning--;
  }

  /**
   * Removes work that waits in vain; all other work stays in place.
   *
   * @param removed receives it, even if memory runs out on the way
   */
  void giveUp(Predicate<Work> inVain, List<Work> removed) {
    kinds.values().forEach(kind -> kind.giveUp(inVain, removed));
  }

  /** Removes the work of a client that has left, except what has to be done nevertheless. */
  List<Work> drop(Object client) {
    List<Work> dropped = new ArrayList<>();
    kinds.values().forEach(kind -> kind.drop(client, dropped));
    return dropped;
  }

  /**
   * The work of one kind. Its clients are served in turns, one work item at a time; a client that
   * comes again goes to the end. All steps take constant time, however many wait, and handing out
   * work allocates nothing.
   */
  private static final class OfKind {
    private final Map<Object, OfClient> clients = new HashMap<>();

    /** The sentinel of the ring of clients with work; the client to serve next follows it. */
    private final OfClient end = new OfClient(null);

    private int size;

    /** How often in a row other kinds were preferred although work waits here. */
    private int passedOver;

    int count(Object client) {
      OfClient known = clients.get(client);
      return known == null ? 0 : known.count;
    }

    boolean isOverdueBefore(OfKind other) {
      return passedOver >= MAX_PASSED_OVER && passedOver > other.passedOver;
    }

    void add(Object client, Runnable work) {
      Item item = new Item(work);
      OfClient known = clients.get(client);
      if (known == null) {
        known = new OfClient(client);
        clients.put(client, known);
        known.insertBefore(end);
      }
      known.add(item);
      size++;
    }

    /** Returns work of the client to serve next; there must be one. */
    Runnable take() {
      passedOver = 0;
      OfClient next = end.following;
      next.unlink();
      Item item = next.first;
      next.first = item.next;
      next.count--;
      size--;
      if (next.count == 0) {
        clients.remove(next.client);
      } else {
        next.insertBefore(end);
      }
      return item.work;
    }

    void giveUp(Predicate<Work> inVain, List<Work> removed) {
      for (OfClient client : List.copyOf(clients.values())) {
        int before = client.count;
        try {
          client.giveUp(inVain, removed);
        } finally {
          size -= before - client.count;
          if (client.count == 0) {
            clients.remove(client.client);
            client.unlink();
          }
        }
      }
    }

    void drop(Object client, List<Work> dropped) {
      OfClient gone = clients.remove(client);
      if (gone == null) {
        return;
      }
      gone.unlink();
      size -= gone.count;
      for (Item item = gone.first; item != null; item = item.next) {
        if (item.work instanceof Work work && work.isDroppable()) {
          dropped.add(work);
        } else {
          add(client, item.work);
        }
      }
    }
  }

  /** One work item, and the next one of the same client. */
  private static final class Item {
    private final Runnable work;
    private Item next;

    Item(Runnable work) {
      this.work = work;
    }
  }

  /** The work of one client, oldest first, in a ring of clients. */
  private static final class OfClient {
    private final Object client;
    private Item first;
    private Item last;
    private int count;
    private OfClient preceding = this;
    private OfClient following = this;

    OfClient(Object client) {
      this.client = client;
    }

    void add(Item item) {
      if (first == null) {
        first = item;
      } else {
        last.next = item;
      }
      last = item;
      count++;
    }

    void giveUp(Predicate<Work> inVain, List<Work> removed) {
      Item before = null;
      for (Item item = first; item != null; item = item.next) {
        if (item.work instanceof Work work && inVain.test(work)) {
          removed.add(work);
          remove(before, item);
        } else {
          before = item;
        }
      }
    }

    private void remove(Item before, Item item) {
      if (before == null) {
        first = item.next;
      } else {
        before.next = item.next;
      }
      last = item == last ? before : last;
      count--;
    }

    void insertBefore(OfClient other) {
      preceding = other.preceding;
      following = other;
      preceding.following = this;
      other.preceding = this;
    }

    void unlink() {
      preceding.following = following;
      following.preceding = preceding;
    }
  }
}
