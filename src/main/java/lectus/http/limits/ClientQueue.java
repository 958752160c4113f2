package lectus.http.limits;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import lectus.http.limits.ReaderTurns.Droppable;
import lectus.http.limits.ReaderTurns.Impatient;

/**
 * The work of one kind that waits for a reader's thread. Clients take turns, one piece of work at a
 * time; a client that comes again goes to the end. All steps take constant time, however many wait,
 * and handing out work allocates nothing. For one thread at a time.
 */
final class ClientQueue {
  private final Map<Object, Waiting> byClient = new HashMap<>();

  /** The sentinel of the ring of clients with work; the next client's turn follows it. */
  private final Waiting ends = new Waiting(null);

  private int size;
  private int passedOver;

  /** One piece of work, and the next one of the same client. */
  private static final class Piece {
    private final Runnable work;
    private Piece next;

    Piece(Runnable work) {
      this.work = work;
    }
  }

  /** The work of one client, oldest first. */
  private static final class Waiting {
    private final Object client;
    private Piece first;
    private Piece last;
    private int count;
    private Waiting before = this;
    private Waiting behind = this;

    Waiting(Object client) {
      this.client = client;
    }

    void add(Piece piece) {
      if (first == null) {
        first = piece;
      } else {
        last.next = piece;
      }
      last = piece;
      count++;
    }

    Runnable remove() {
      Piece piece = first;
      first = piece.next;
      count--;
      return piece.work;
    }

    void giveUp(Predicate<Impatient> inVain, List<Impatient> given) {
      Piece before = null;
      for (Piece piece = first; piece != null; piece = piece.next) {
        if (piece.work instanceof Impatient request && inVain.test(request)) {
          given.add(request);
          takeOut(before, piece);
        } else {
          before = piece;
        }
      }
    }

    private void takeOut(Piece before, Piece piece) {
      if (before == null) {
        first = piece.next;
      } else {
        before.next = piece.next;
      }
      last = piece == last ? before : last;
      count--;
    }

    void standBefore(Waiting other) {
      before = other.before;
      behind = other;
      before.behind = this;
      other.before = this;
    }

    void stepOut() {
      before.behind = behind;
      behind.before = before;
    }
  }

  boolean isEmpty() {
    return ends.behind == ends;
  }

  /** Returns how many pieces of work wait. */
  int size() {
    return size;
  }

  /** Returns how many pieces of work wait for a client. */
  int count(Object client) {
    Waiting waiting = byClient.get(client);
    return waiting == null ? 0 : waiting.count;
  }

  void add(Object client, Runnable work) {
    Piece piece = new Piece(work);
    Waiting waiting = byClient.get(client);
    if (waiting == null) {
      waiting = new Waiting(client);
      byClient.put(client, waiting);
      waiting.standBefore(ends);
    }
    waiting.add(piece);
    size++;
  }

  /** Returns work of the client whose turn it is; the line must not be empty. */
  Runnable take() {
    passedOver = 0;
    Waiting next = ends.behind;
    next.stepOut();
    Runnable work = next.remove();
    size--;
    if (next.count == 0) {
      byClient.remove(next.client);
    } else {
      next.standBefore(ends);
    }
    return work;
  }

  /** Notes that other lines were preferred although work waits here. */
  void passOver() {
    passedOver++;
  }

  /** Returns how often in a row this line was passed over. */
  int passedOver() {
    return passedOver;
  }

  /**
   * Removes work that waits in vain; all other work stays in place, even if memory runs out on the
   * way.
   *
   * @param given receives the removed work
   */
  void giveUp(Predicate<Impatient> inVain, List<Impatient> given) {
    for (Waiting waiting : List.copyOf(byClient.values())) {
      int before = waiting.count;
      try {
        waiting.giveUp(inVain, given);
      } finally {
        size -= before - waiting.count;
        if (waiting.count == 0) {
          byClient.remove(waiting.client);
          waiting.stepOut();
        }
      }
    }
  }

  /** Removes the droppable work of a client that has left. */
  List<Droppable> drop(Object client) {
    Waiting left = byClient.remove(client);
    if (left == null) {
      return List.of();
    }
    left.stepOut();
    size -= left.count;
    List<Droppable> dropped = new ArrayList<>();
    for (Piece piece = left.first; piece != null; piece = piece.next) {
      if (piece.work instanceof Droppable unwanted) {
        dropped.add(unwanted);
      } else {
        add(client, piece.work);
      }
    }
    return dropped;
  }
}
