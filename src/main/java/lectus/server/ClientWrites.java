package lectus.server;

import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.function.Predicate;
import lectus.document.edit.Edit;
import lectus.server.WriteQueue.WriteSettings;

/**
 * One database's writes at one executor: the waiting ones, in order, and the documents of those
 * under way to the store. A write that needs one of these documents is passed over until the batch
 * has come back, and so is every write that would overtake it.
 */
final class ClientWrites {
  /** How many batches' worth of waiting writes are searched for some that need not wait. */
  private static final int BATCHES_LOOKED_THROUGH = 4;

  /** A database stands back for so many times as long as it has had the executor's thread. */
  private static final long TIMES_BACK = 50;

  /** The longest that it stands back, so that it is not kept waiting by others that do not. */
  private static final long MAX_NANOS_BACK = 1_000_000_000;

  /** The most writes that go on in several transactions each; others wait for them. */
  private static final int MAX_GOING_ON = 8;

  private final WriteSettings settings;

  /**
   * Transactions that have been answered and go on, each at a turn of its own. Linked, like the
   * waiting writes: if there is no memory for another one, those before it stay.
   */
  private final Deque<QueuedBatch> returned = new LinkedBlockingDeque<>();

  /** How many transactions went on after an answer, and are not over. */
  private int goingOn;

  /** Until when the database stands back, by {@link System#nanoTime}. */
  private long backUntil = System.nanoTime();

  /** Where it stands in the line for the executor. */
  private long place;

  private boolean isInLine;
  private boolean lastBegan;
  private final Deque<PendingWrite> waiting = new LinkedBlockingDeque<>();
  private final Set<String> inFlight = new HashSet<>();
  private int batchesInFlight;
  private int waitingEdits;
  private long waitingBytes;
  private int parked;
  private long parkedBytes;

  /** Whether nothing that was searched can be taken before a batch has come back. */
  private boolean blocked;

  ClientWrites(WriteSettings settings) {
    this.settings = settings;
  }

  /** Changes nothing if it fails. */
  void add(PendingWrite write) {
    boolean blocksNothing = blocked && isFree(write, inFlight);
    waiting.add(write);
    waitingEdits += write.edits().size();
    waitingBytes += write.bytes();
    blocked = blocked && (waiting.size() > mostLookedThrough() || !blocksNothing);
  }

  /**
   * Adds a write that was judged, whose documents are still reserved. Later ones wait behind it.
   */
  void addFirst(PendingWrite write) {
    waiting.addFirst(write);
    waitingEdits += write.edits().size();
    waitingBytes += write.bytes();
  }

  long parkedBytes() {
    return parkedBytes;
  }

  void park(ParkedWrite write) {
    parked++;
    parkedBytes += write.held();
  }

  /** Keeps the documents of a parked write from all others. */
  void reserve(ParkedWrite write) {
    write.left().ids().forEach(inFlight::add);
  }

  /** Frees its documents. Needs no memory. */
  void unpark(ParkedWrite write) {
    parked--;
    parkedBytes -= write.held();
    blocked = false;
    List<Edit> edits = write.left().edits();
    for (int i = 0; i < edits.size(); i++) {
      inFlight.remove(edits.get(i).id());
    }
  }

  List<PendingWrite> remove(Predicate<PendingWrite> inVain) {
    List<PendingWrite> removed = waiting.stream().filter(inVain).toList();
    if (!removed.isEmpty()) {
      waiting.removeIf(inVain);
    }
    for (PendingWrite write : removed) {
      waitingEdits -= write.edits().size();
      waitingBytes -= write.bytes();
    }
    return removed;
  }

  /** Whether nothing is known of the database any more that would matter. */
  boolean isForgotten(long now) {
    return waiting.isEmpty() && batchesInFlight == 0 && parked == 0 && now - backUntil >= 0;
  }

  /**
   * Whether a transaction is to begin now. While another one is in flight, edits gather until it
   * has come back or until they fill a transaction: one transaction costs less than several. What
   * goes on in several transactions keeps nobody waiting.
   */
  boolean isReady() {
    return !waiting.isEmpty()
        && !blocked
        && goingOn < MAX_GOING_ON
        && (batchesInFlight == goingOn || isNextFull());
  }

  /**
   * Enters the line for the executor unless it stands there. Whoever has had the thread for little
   * time lately stands before those who had it for long, however many of these there are.
   */
  boolean entersLine() {
    if (isInLine) {
      return false;
    }
    long now = System.nanoTime();
    place = backUntil - now > 0 ? backUntil : now;
    isInLine = true;
    return true;
  }

  void leaveLine() {
    isInLine = false;
  }

  static int compare(ClientWrites one, ClientWrites other) {
    return Long.signum(one.place - other.place);
  }

  /**
   * Notes how long the database had the executor's thread.
   *
   * @param now when that ended
   */
  void used(long nanos, long now) {
    long since = backUntil - now > 0 ? backUntil : now;
    backUntil = Math.min(since - now + TIMES_BACK * nanos, MAX_NANOS_BACK) + now;
  }

  boolean hasReturned() {
    return !returned.isEmpty();
  }

  void comeBack(QueuedBatch batch) {
    returned.add(batch);
    goingOn += batch.goesOn() ? 0 : 1;
    batch.goOn();
  }

  QueuedBatch takeReturned() {
    lastBegan = false;
    return returned.remove();
  }

  /** Whether the last turn began a transaction, and did not go on with one. */
  boolean lastBegan() {
    return lastBegan;
  }

  private boolean isNextFull() {
    return waitingEdits >= settings.batchEdits()
        || waitingBytes >= settings.batchBytes()
        || waiting.element().atomic();
  }

  /** Takes the writes of the next transaction; returns null if all of them have to wait. */
  QueuedBatch take() {
    Set<String> ids = new HashSet<>();
    QueuedBatch next = next(ids);
    List<PendingWrite> taken = next.writes();
    if (taken.isEmpty()) {
      blocked = true;
      return null;
    }
    Iterator<PendingWrite> looked = waiting.iterator();
    send(ids);
    for (int removed = 0; removed < taken.size(); ) {
      if (looked.next() == taken.get(removed)) {
        looked.remove();
        removed++;
      }
    }
    waitingEdits -= next.size();
    waitingBytes -= next.bytes();
    lastBegan = true;
    return next;
  }

  /**
   * Returns the waiting writes that go into the next transaction; nothing is moved yet.
   *
   * @param ids gets those of their documents
   */
  private QueuedBatch next(Set<String> ids) {
    List<PendingWrite> taken = new ArrayList<>();
    Set<String> idsPassed = new HashSet<>(0);
    int edits = 0;
    long bytes = 0;
    Iterator<PendingWrite> writes = waiting.iterator();
    int most = mostLookedThrough();
    for (int looked = 0; looked < most && writes.hasNext(); looked++) {
      PendingWrite next = writes.next();
      edits += next.edits().size();
      bytes += next.bytes();
      if (!taken.isEmpty()
          && (next.atomic()
              || taken.get(0).atomic()
              || edits > settings.batchEdits()
              || bytes > settings.batchBytes())) {
        break;
      }
      if (isFree(next, inFlight) && isFree(next, idsPassed) && isFree(next, ids)) {
        taken.add(next);
        addIds(next, ids);
      } else {
        addIds(next, idsPassed);
        edits -= next.edits().size();
        bytes -= next.bytes();
      }
    }
    return new QueuedBatch(this, taken);
  }

  /** Nothing may fail from here on, or a write would be lost. */
  private void send(Set<String> ids) {
    try {
      inFlight.addAll(ids);
    } catch (Throwable noMemory) {
      inFlight.removeAll(ids);
      throw noMemory;
    }
    batchesInFlight++;
  }

  /** Notes that a batch is over: writes that wait for its documents may go. Needs no memory. */
  void release(QueuedBatch batch) {
    batchesInFlight--;
    goingOn -= batch.goesOn() ? 1 : 0;
    blocked = false;
    List<PendingWrite> writes = batch.writes();
    for (int i = 0; i < writes.size(); i++) {
      List<Edit> edits = writes.get(i).edits();
      for (int j = 0; j < edits.size(); j++) {
        inFlight.remove(edits.get(j).id());
      }
    }
  }

  private int mostLookedThrough() {
    return BATCHES_LOOKED_THROUGH * settings.batchEdits();
  }

  private static boolean isFree(PendingWrite write, Set<String> busy) {
    if (busy.isEmpty()) {
      return true;
    }
    for (Edit edit : write.edits()) {
      if (busy.contains(edit.id())) {
        return false;
      }
    }
    return true;
  }

  private static void addIds(PendingWrite write, Set<String> ids) {
    for (Edit edit : write.edits()) {
      ids.add(edit.id());
    }
  }
}
