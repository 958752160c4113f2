package lectus.server.writing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import lectus.document.edit.Edit;

/**
 * One database's writes at one executor: the waiting ones, in order, and the documents of those
 * under way to the store. A write that needs one of these documents is passed over until the batch
 * has come back, and so is every write that would overtake it.
 */
final class WriteLane {
  /** How many batches' worth of waiting writes are searched for some that need not wait. */
  private static final int BATCHES_LOOKED_THROUGH = 4;

  private final WriteSettings settings;
  private final Deque<PendingWrite> waiting = new ArrayDeque<>();
  private final Set<String> inFlight = new HashSet<>();
  private int batchesInFlight;
  private int waitingEdits;
  private long waitingBytes;

  /** Whether nothing that was searched can be taken before a batch has come back. */
  private boolean blocked;

  WriteLane(WriteSettings settings) {
    this.settings = settings;
  }

  void add(PendingWrite write) {
    waiting.add(write);
    waitingEdits += write.edits().size();
    waitingBytes += write.bytes();
    blocked = blocked && (waiting.size() > mostLookedThrough() || !isFree(write, inFlight));
  }

  /** Removes waiting writes. */
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

  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  boolean isIdle() {
    return waiting.isEmpty() && batchesInFlight == 0;
  }

  /**
   * Whether a transaction is to begin now. While another one is in flight, edits gather until it
   * has come back or until they fill a transaction: one transaction costs less than several.
   */
  boolean isReady() {
    return !waiting.isEmpty() && !blocked && (batchesInFlight == 0 || isNextFull());
  }

  private boolean isNextFull() {
    return waitingEdits >= settings.batchEdits()
        || waitingBytes >= settings.batchBytes()
        || waiting.element().atomic();
  }

  /** Takes the writes of the next transaction; returns null if all of them have to wait. */
  QueuedBatch take() {
    Selection selection = new Selection();
    selection.lookThrough();
    if (selection.taken.isEmpty()) {
      blocked = true;
      return null;
    }
    QueuedBatch batch = new QueuedBatch(selection.taken);
    send(selection.ids);
    for (int looked = selection.looked(); looked > 0; looked--) {
      waiting.remove();
    }
    for (int i = selection.passed.size() - 1; i >= 0; i--) {
      waiting.addFirst(selection.passed.get(i));
    }
    waitingEdits -= selection.edits;
    waitingBytes -= selection.bytes;
    return batch;
  }

  /** The waiting writes that go into the next transaction; nothing is moved yet. */
  private final class Selection {
    private final List<PendingWrite> taken = new ArrayList<>();
    private final List<PendingWrite> passed = new ArrayList<>(0);
    private final Set<String> ids = new HashSet<>();
    private final Set<String> idsPassed = new HashSet<>(0);
    private int edits;
    private long bytes;

    void lookThrough() {
      Iterator<PendingWrite> writes = waiting.iterator();
      while (writes.hasNext() && looked() < mostLookedThrough()) {
        PendingWrite next = writes.next();
        if (!fits(next)) {
          return;
        }
        if (isFree(next, inFlight) && isFree(next, idsPassed) && isFree(next, ids)) {
          taken.add(next);
          addIds(next, ids);
          edits += next.edits().size();
          bytes += next.bytes();
        } else {
          passed.add(next);
          addIds(next, idsPassed);
        }
      }
    }

    int looked() {
      return taken.size() + passed.size();
    }

    private boolean fits(PendingWrite next) {
      return taken.isEmpty()
          || (!taken.get(0).atomic()
              && !next.atomic()
              && edits + next.edits().size() <= settings.batchEdits()
              && bytes + next.bytes() <= settings.batchBytes());
    }
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

  /** Notes that a batch has come back: writes that wait for its documents may go. */
  void release(QueuedBatch batch) {
    batchesInFlight--;
    blocked = false;
    for (PendingWrite write : batch.writes()) {
      for (Edit edit : write.edits()) {
        inFlight.remove(edit.id());
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
