package lectus.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Writes that wait for one executor, in the order in which they came, by database. Databases take
 * turns, so that a busy one does not keep the others waiting. Bounded in edits and bytes; a single
 * write that is larger than the bounds is taken when nothing else waits.
 */
final class WriteQueue implements WaitingRoom {
  private static final int RETRY_AFTER_SECONDS = 1;

  private final WriteSettings settings;
  private final Map<DatabaseName, Deque<PendingWrite>> waiting = new LinkedHashMap<>();
  private int edits;
  private long bytes;
  private boolean executorAwake;
  private volatile Optional<LectusError> outage = Optional.empty();

  WriteQueue(WriteSettings settings) {
    this.settings = settings;
  }

  /**
   * Appends a write if there is room.
   *
   * @return whether the executor sleeps and has to be nudged; true once until it sleeps again
   * @throws LectusException service_unavailable (503): the queue is full
   */
  synchronized boolean offer(PendingWrite write) {
    requireRoom(write.edits().size(), write.bytes());
    return add(write);
  }

  /**
   * @throws LectusException service_unavailable (503): so much more does not fit, or the store does
   *     not answer
   */
  synchronized void requireRoom(int moreEdits, long moreBytes) {
    outage.ifPresent(
        why -> {
          throw new LectusException(why);
        });
    boolean full =
        edits + moreEdits > settings.queueEdits() || bytes + moreBytes > settings.queueBytes();
    if (full && edits > 0) {
      throw new LectusException(
          new LectusError.Unavailable("Too many writes are waiting.", RETRY_AFTER_SECONDS));
    }
  }

  /** Appends a write for which there was room when its request began. */
  synchronized boolean add(PendingWrite write) {
    waiting.computeIfAbsent(write.database(), name -> new ArrayDeque<>()).add(write);
    edits += write.edits().size();
    bytes += write.bytes();
    boolean asleep = !executorAwake;
    executorAwake = true;
    return asleep;
  }

  @Override
  public void giveUpOverdue(LectusError why) {
    long now = System.nanoTime();
    giveUp(write -> write.deadline().isOver(now), why);
  }

  /** What nobody waits for stays. */
  @Override
  public void refuse(LectusError why) {
    outage = Optional.of(why);
    giveUp(write -> write.deadline().isSet(), why);
  }

  @Override
  public void refuseNoMore() {
    outage = Optional.empty();
  }

  private void giveUp(Predicate<PendingWrite> inVain, LectusError why) {
    LectusException told = new LectusException(why);
    remove(inVain).forEach(write -> Outcomes.tellFailed(write.completion(), told));
  }

  private synchronized List<PendingWrite> remove(Predicate<PendingWrite> inVain) {
    List<PendingWrite> removed = new ArrayList<>();
    for (Deque<PendingWrite> writes : waiting.values()) {
      writes.stream().filter(inVain).forEach(removed::add);
      writes.removeIf(inVain);
    }
    waiting.values().removeIf(Deque::isEmpty);
    for (PendingWrite write : removed) {
      edits -= write.edits().size();
      bytes -= write.bytes();
    }
    return removed;
  }

  /** What the next transaction takes; null if nothing waits: the executor may sleep then. */
  synchronized WriteBatch take() {
    var turns = waiting.entrySet().iterator();
    if (!turns.hasNext()) {
      executorAwake = false;
      return null;
    }
    var turn = turns.next();
    turns.remove();
    WriteBatch batch = takeFrom(turn.getValue());
    if (!turn.getValue().isEmpty()) {
      waiting.put(turn.getKey(), turn.getValue());
    }
    return batch;
  }

  private WriteBatch takeFrom(Deque<PendingWrite> writes) {
    List<PendingWrite> taken = new ArrayList<>();
    int takenEdits = 0;
    long takenBytes = 0;
    do {
      PendingWrite write = writes.remove();
      taken.add(write);
      takenEdits += write.edits().size();
      takenBytes += write.bytes();
    } while (fits(taken.get(0), writes.peek(), takenEdits, takenBytes));
    edits -= takenEdits;
    bytes -= takenBytes;
    return new WriteBatch(taken);
  }

  private boolean fits(PendingWrite first, PendingWrite next, int takenEdits, long takenBytes) {
    return next != null
        && !first.atomic()
        && !next.atomic()
        && takenEdits + next.edits().size() <= settings.batchEdits()
        && takenBytes + next.bytes() <= settings.batchBytes();
  }
}
