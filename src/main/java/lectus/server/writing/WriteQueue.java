package lectus.server.writing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import lectus.database.DatabaseName;
import lectus.document.write.DocumentWriter;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.measure.Measured;
import lectus.measure.Meters;
import lectus.measure.Spread;
import lectus.server.turn.WaitingRoom;

/**
 * The writes that wait for one executor, in order of arrival, by database, and those that are under
 * way to the store. Databases take turns, so that a busy one does not delay the others. Limited in
 * waiting edits and in bytes; a single write that exceeds the limits is accepted when nothing else
 * waits.
 */
public final class WriteQueue implements WaitingRoom, Measured {
  /** The most transactions that one executor has under way. */
  static final int MOST_IN_FLIGHT = 64;

  /** The fraction of the queue's memory for writes in flight; a single batch may exceed it. */
  private static final int PART_IN_FLIGHT = 4;

  /**
   * The batches' worth of edits that a long request queues at once while the queue is nearly empty:
   * each slice waits for a synced write, so few large ones are faster than many small ones. None is
   * larger than a transaction: the executor would wait for the first before it began the second.
   */
  private static final int WIDE_SLICE = 4;

  /**
   * The queue counts as nearly empty while it holds no more than a wide slice and is filled to no
   * more than this fraction. So a single edit waits for few wide slices, however many long requests
   * there are.
   */
  private static final int PART_FOR_WIDE_SLICES = 4;

  private final WriteSettings settings;
  private final Map<DatabaseName, WriteLane> lanes = new HashMap<>();

  /** The lanes with waiting writes. */
  private final Deque<WriteLane> turns = new ArrayDeque<>();

  private int edits;
  private long bytes;
  private int batchesInFlight;
  private long bytesInFlight;
  private boolean executorAwake;
  private boolean closing;
  private final Spread batches = Spread.ofSizes();
  private volatile Optional<LectusError> outage = Optional.empty();

  public WriteQueue(WriteSettings settings) {
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
   * @throws LectusException service_unavailable (503): these do not fit, or the store does not
   *     answer
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

  /**
   * Returns how many edits of a long request may wait as one slice.
   *
   * @param usual as many as others can wait for without noticing
   * @param bytesPerEdit the memory of each
   */
  synchronized int slice(int usual, long bytesPerEdit) {
    long several = Math.min((long) WIDE_SLICE * usual, DocumentWriter.DOCUMENTS_AT_ONCE);
    long few = Math.min(settings.queueEdits() / PART_FOR_WIDE_SLICES, several);
    long nearlyFree = settings.queueBytes() / PART_FOR_WIDE_SLICES;
    if (edits > few || bytes + bytesInFlight > nearlyFree) {
      return usual;
    }
    long fitting = Math.min(settings.batchBytes(), nearlyFree) / Math.max(1, bytesPerEdit);
    return (int) Math.max(usual, Math.min(fitting, few));
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
   * Returns the writes of the next transaction, to be {@linkplain #release released} when it is
   * over; null if nothing can be taken now: the executor may sleep then.
   */
  synchronized QueuedBatch take() {
    for (int left = mayFly() ? turns.size() : 0; left > 0; left--) {
      WriteLane lane = turns.element();
      QueuedBatch batch = lane.isReady() ? lane.take() : null;
      turns.remove();
      if (lane.hasWaiting()) {
        turns.add(lane);
      }
      if (batch != null) {
        edits -= batch.size();
        bytes -= batch.bytes();
        batchesInFlight++;
        batches.add(batch.size());
        bytesInFlight += batch.bytes();
        return batch;
      }
    }
    executorAwake = false;
    return null;
  }

  /**
   * Notes that a transaction is over.
   *
   * @return as {@link #offer}
   */
  synchronized boolean release(QueuedBatch batch) {
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

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_write_queue_edits", "Edits that wait.", () -> figure(() -> edits));
    meters.level(
        "lectus_write_queue_bytes",
        "Bytes of edits that wait or are in a transaction.",
        () -> figure(() -> bytes + bytesInFlight));
    meters.level(
        "lectus_write_batches_in_flight",
        "Transactions that wait for their commits.",
        () -> figure(() -> batchesInFlight));
    meters.spread("lectus_write_batch_edits", "Edits in one transaction.", batches);
  }

  private synchronized long figure(LongSupplier figure) {
    return figure.getAsLong();
  }

  /** Notes that the nudge did not reach the executor. */
  synchronized void sleep() {
    executorAwake = false;
  }

  /** From now on the executor is also nudged when nothing is left. */
  synchronized void close() {
    closing = true;
  }

  /** Whether edits wait behind a transaction. */
  public synchronized boolean hasToWait() {
    return edits > 0 && batchesInFlight > 0;
  }

  /** Whether nothing waits, and nothing is under way to the store. */
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
