package lectus.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.database.DatabaseName;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * Writes that wait for one executor, in the order in which they came, by database, and what of them
 * is on its way into the store. Databases take turns, so that a busy one does not keep the others
 * waiting. Bounded in edits that wait, and in bytes; a single write that is larger than the bounds
 * is taken when nothing else waits.
 */
final class WriteQueue implements WaitingRoom {
  /** Transactions that one executor has under way at most. */
  static final int MOST_IN_FLIGHT = 64;

  /** The part of the queue's memory for what is in flight; a single batch may have more. */
  private static final int PART_IN_FLIGHT = 4;

  private final WriteSettings settings;
  private final Map<DatabaseName, WriteLane> lanes = new HashMap<>();

  /** Those in which something waits. */
  private final Deque<WriteLane> turns = new ArrayDeque<>();

  private int edits;
  private long bytes;
  private int batchesInFlight;
  private long bytesInFlight;
  private boolean executorAwake;
  private boolean closing;
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
        edits + moreEdits > settings.queueEdits()
            || bytes + bytesInFlight + moreBytes > settings.queueBytes();
    if (full && edits > 0) {
      throw new LectusException(new LectusError.Unavailable("Too many writes are waiting."));
    }
  }

  /** Appends a write for which there was room when its request began. */
  synchronized boolean add(PendingWrite write) {
    WriteLane lane = lanes.computeIfAbsent(write.database(), name -> new WriteLane(settings));
    if (!lane.hasWaiting()) {
      turns.add(lane);
    }
    lane.add(write);
    edits += write.edits().size();
    bytes += write.bytes();
    return lane.isReady() && wakes();
  }

  @Override
  public void giveUpOverdue(LectusError why) {
    long now = System.nanoTime();
    giveUp(write -> write.deadline().isOver(now), why);
  }

  /** Writes without a deadline, for which no client waits, stay. */
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
    turns.forEach(lane -> removed.addAll(lane.remove(inVain)));
    turns.removeIf(lane -> !lane.hasWaiting());
    lanes.values().removeIf(WriteLane::isIdle);
    for (PendingWrite write : removed) {
      edits -= write.edits().size();
      bytes -= write.bytes();
    }
    return removed;
  }

  /**
   * What the next transaction takes, to be {@linkplain #release released} when it is over; null if
   * nothing can be taken now: the executor may sleep then.
   */
  synchronized WriteBatch take() {
    for (int left = mayFly() ? turns.size() : 0; left > 0; left--) {
      WriteLane lane = turns.element();
      WriteBatch batch = lane.isReady() ? lane.take() : null;
      turns.remove();
      if (lane.hasWaiting()) {
        turns.add(lane);
      }
      if (batch != null) {
        edits -= batch.size();
        bytes -= batch.bytes();
        batchesInFlight++;
        bytesInFlight += batch.bytes();
        return batch;
      }
    }
    executorAwake = false;
    return null;
  }

  /**
   * A transaction is over.
   *
   * @return as {@link #offer}
   */
  synchronized boolean release(WriteBatch batch) {
    batchesInFlight--;
    bytesInFlight -= batch.bytes();
    WriteLane lane = lanes.get(batch.database());
    lane.release(batch);
    if (lane.isIdle()) {
      lanes.remove(batch.database());
    }
    return (hasReady() && wakes()) || (closing && isIdle());
  }

  private boolean hasReady() {
    for (WriteLane lane : turns) {
      if (lane.isReady()) {
        return true;
      }
    }
    return false;
  }

  /** The executor did not hear the nudge. */
  synchronized void sleep() {
    executorAwake = false;
  }

  /** From now on the executor is nudged, too, when nothing is left. */
  synchronized void close() {
    closing = true;
  }

  /** Whether nothing waits, and nothing is on its way into the store. */
  synchronized boolean isIdle() {
    return turns.isEmpty() && batchesInFlight == 0;
  }

  private boolean wakes() {
    boolean wakes = !executorAwake && mayFly();
    executorAwake |= wakes;
    return wakes;
  }

  private boolean mayFly() {
    return batchesInFlight == 0
        || (batchesInFlight < MOST_IN_FLIGHT
            && bytesInFlight < settings.queueBytes() / PART_IN_FLIGHT);
  }
}
