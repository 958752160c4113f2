package lectus.server;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import lectus.database.DatabaseName;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditFailures;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.limits.StoreWatch;
import lectus.metrics.Histogram;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;

/**
 * The writes that wait for one executor, in order of arrival, by database, and those that are under
 * way to the store. Databases take turns by the time that they use, so that those whose documents
 * are costly to plan do not delay the others. Limited in waiting edits, and in bytes that nobody
 * waits for: others are counted with their requests. A single write that exceeds the limits is
 * accepted when nothing else waits.
 */
public final class WriteQueue implements StoreWatch.Waiting, Measured {
  /** The most transactions that one executor has under way. */
  static final int MAX_IN_FLIGHT = 64;

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

  /** How many writes that wait for memory are looked at when some is free. */
  private static final int MAX_LOOKED = 100;

  private final WriteSettings settings;
  private final Map<DatabaseName, ClientWrites> lanes = new HashMap<>();

  /** The lanes for which the executor can do something. */
  private final Queue<ClientWrites> line = new PriorityQueue<>(ClientWrites::compare);

  private int edits;
  private long bytes;
  private int batchesInFlight;
  private long bytesInFlight;

  /** What the transactions in flight write: with many indexes far more than the edits' bytes. */
  private long plannedInFlight;

  /** The transactions that wait for a turn to go on. */
  private int comeBack;

  /** The writes that go on in several transactions: they last, and keep no other from its own. */
  private int goingOn;

  private long bytesGoingOn;

  /** The writes that functions have to judge. Their documents are reserved. */
  private final Set<ParkedWrite> parked = new LinkedHashSet<>();

  /** Those of them for whose questions there was no memory, in order. */
  private final Deque<ParkedWrite> postponed = new ArrayDeque<>();

  /** The one that is judged although its questions had no room; null if there is none. */
  private ParkedWrite beyond;

  private long parkedBytes;

  private boolean executorAwake;
  private boolean closing;
  private final Histogram batches = Histogram.ofSizes();
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
    requireRoom(write.edits().size(), write.completion().isAwaited() ? 0 : write.bytes());
    return add(write);
  }

  /**
   * @param moreBytes that are not counted with a request which is still there
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
            || (moreBytes > 0
                && bytes + bytesInFlight + parkedBytes + moreBytes > settings.queueBytes());
    if (full && edits + parked.size() > 0) {
      throw LectusException.unavailable("Too many writes are waiting.");
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
    ClientWrites lane = lanes.computeIfAbsent(write.database(), name -> new ClientWrites(settings));
    // Whatever fails, the write is not added: its client is told so.
    lineUp(lane);
    lane.add(write);
    edits += write.edits().size();
    bytes += write.bytes();
    return lane.isReady() && wakes();
  }

  private void enter(ClientWrites lane) {
    if (lane.isReady() || lane.hasReturned()) {
      lineUp(lane);
    }
  }

  private void lineUp(ClientWrites lane) {
    if (lane.entersLine()) {
      try {
        line.add(lane);
      } catch (Throwable noMemory) {
        lane.leaveLine();
        throw noMemory;
      }
    }
  }

  @Override
  public void giveUpOverdue(LectusError why) {
    long now = System.nanoTime();
    giveUp(write -> isOver(write.deadline(), now), why);
    parked(write -> write.completion().hasLeft()).forEach(write -> write.giveUp(why));
  }

  private static boolean isOver(OptionalLong deadline, long now) {
    return deadline.isPresent() && now - deadline.getAsLong() >= 0;
  }

  /** Writes without a deadline, for which no client waits, stay. */
  @Override
  public void refuse(LectusError why) {
    outage = Optional.of(why);
    giveUp(write -> write.deadline().isPresent(), why);
  }

  @Override
  public void refuseNoMore() {
    outage = Optional.empty();
  }

  private void giveUp(Predicate<PendingWrite> inVain, LectusError why) {
    LectusException told = new LectusException(why);
    remove(inVain).forEach(write -> QueuedBatch.tellFailed(write.completion(), told));
    parked(inVain).forEach(write -> write.giveUp(why));
  }

  /** Returns how many writes wait for functions to judge them. */
  synchronized int parked() {
    return parked.size();
  }

  /** A write that is given up comes back to be {@linkplain #resume resumed}. */
  private synchronized List<ParkedWrite> parked(Predicate<PendingWrite> inVain) {
    return parked.stream().filter(it -> inVain.test(it.write())).toList();
  }

  private synchronized List<PendingWrite> remove(Predicate<PendingWrite> inVain) {
    List<PendingWrite> removed = new ArrayList<>();
    lanes.values().forEach(lane -> removed.addAll(lane.remove(inVain)));
    long now = System.nanoTime();
    lanes.values().removeIf(lane -> lane.isForgotten(now));
    for (PendingWrite write : removed) {
      edits -= write.edits().size();
      bytes -= write.bytes();
    }
    return removed;
  }

  /**
   * Returns the batch whose transaction begins next, or {@linkplain QueuedBatch#goesOn goes on}
   * after the store's answer; null if there is none now: the executor may sleep then. Each turn is
   * to be {@linkplain #done noted}, and the batch {@linkplain #release released} when it is over.
   */
  synchronized QueuedBatch take() {
    List<ClientWrites> passed = new ArrayList<>(0);
    QueuedBatch batch = null;
    while (batch == null && !line.isEmpty() && mayAnythingGo()) {
      ClientWrites lane = line.remove();
      try {
        batch = next(lane);
        if (batch == null && (lane.isReady() || lane.hasReturned())) {
          passed.add(lane);
        } else if (batch == null) {
          lane.leaveLine();
        }
      } catch (Throwable failure) {
        line.add(lane);
        line.addAll(passed);
        throw failure;
      }
    }
    line.addAll(passed);
    executorAwake = batch != null;
    return batch;
  }

  /**
   * What begins and what goes on take turns in a database: under load the next transaction is
   * always full, and who waits for one that goes on would wait until the load ends.
   */
  private QueuedBatch next(ClientWrites lane) {
    boolean goesOn = lane.hasReturned() && mayGoOn();
    QueuedBatch batch = goesOn && lane.lastBegan() ? null : begin(lane);
    if (batch == null && goesOn) {
      batch = lane.takeReturned();
      comeBack--;
    }
    return batch;
  }

  private QueuedBatch begin(ClientWrites lane) {
    QueuedBatch batch = lane.isReady() && mayFly() ? lane.take() : null;
    if (batch != null) {
      edits -= batch.size();
      bytes -= batch.bytes();
      batchesInFlight++;
      bytesInFlight += batch.bytes();
      batches.add(batch.size());
    }
    return batch;
  }

  /** Notes that a batch's turn is over, and how long it took. */
  synchronized void done(QueuedBatch batch, long nanos) {
    batch.lane().used(nanos, System.nanoTime());
    batch.lane().leaveLine();
    enter(batch.lane());
  }

  /**
   * Has the executor go on with a transaction.
   *
   * @return as {@link #offer}
   */
  synchronized boolean comeBack(QueuedBatch batch) {
    ClientWrites lane = batch.lane();
    plan(batch, 0);
    lineUp(lane);
    boolean wentOn = batch.goesOn();
    lane.comeBack(batch);
    // Nothing may fail from here on, or the transaction would be over and go on as well.
    comeBack++;
    goingOn += wentOn ? 0 : 1;
    bytesGoingOn += wentOn ? 0 : batch.bytes();
    return wakes();
  }

  /** Notes the memory of what is planned for a batch's transaction, beside its edits'. */
  synchronized void plan(QueuedBatch batch, long planned) {
    plannedInFlight += planned - batch.plannedBytes();
    batch.plan(planned);
  }

  /**
   * Takes in those of a batch's writes that functions have to judge, each to be {@linkplain #resume
   * resumed}. A database may use half of the memory for questions that others leave, so none keeps
   * others from being judged. What has no room is planned again when there is some; one write may
   * be beyond it, so a large one waits for its turn only.
   */
  synchronized void park(QueuedBatch batch, List<ParkedWrite> writes) {
    List<ParkedWrite> taken = new ArrayList<>(writes.size());
    for (ParkedWrite write : writes) {
      try {
        park(write);
        taken.add(write);
      } catch (Throwable noMemory) {
        parked.remove(write);
        beyond = beyond == write ? null : beyond;
        write.giveUp(EditFailures.errorOf(noMemory));
        write.end();
      }
    }
    batch.park(taken);
  }

  private void park(ParkedWrite write) {
    boolean fits = fits(write);
    parked.add(write);
    if (fits || beyond == null) {
      beyond = fits ? beyond : write;
    } else {
      postponed.add(write);
      write.postpone();
    }
    laneOf(write).park(write);
    parkedBytes += write.held();
  }

  private boolean fits(ParkedWrite write) {
    long most = settings.queueBytes() / PART_IN_FLIGHT;
    long its = laneOf(write).parkedBytes();
    return 2 * (its + write.bytes()) <= most - (parkedBytes - its);
  }

  private ClientWrites laneOf(ParkedWrite write) {
    return lanes.get(write.write().database());
  }

  /**
   * Puts a write in front of those that wait, unless it was given up, and frees its documents.
   *
   * @return as {@link #offer}
   */
  synchronized boolean resume(ParkedWrite write) {
    if (parked.contains(write)) {
      comeBack(write);
      if (!write.isPostponed()) {
        resumePostponed(write.bytes());
      }
    }
    return (!line.isEmpty() && wakes()) || (closing && isIdle());
  }

  /** Uses the memory that a write has freed for others; at least for one that has room now. */
  private void resumePostponed(long freed) {
    Iterator<ParkedWrite> all = postponed.iterator();
    long used = 0;
    for (int looked = 0; looked < MAX_LOOKED && all.hasNext() && used < freed; looked++) {
      ParkedWrite next = all.next();
      boolean isParked = parked.contains(next);
      if (isParked && (beyond == null || fits(next))) {
        comeBack(next);
        used += next.bytes();
        isParked = false;
      }
      if (!isParked) {
        all.remove();
      }
    }
  }

  /** A write that was resumed may end without a question, and then nothing resumes the others. */
  private void resumeForgotten() {
    if (!postponed.isEmpty() && parked.stream().allMatch(ParkedWrite::isPostponed)) {
      resumePostponed(1);
    }
  }

  private void comeBack(ParkedWrite write) {
    ClientWrites lane = laneOf(write);
    if (write.isGivenUp()) {
      write.end();
    } else {
      lineUp(lane);
      PendingWrite next = write.next();
      lane.addFirst(next);
      edits += next.edits().size();
      bytes += next.bytes();
    }
    // Nothing may fail from here on, or the write would be made twice.
    parked.remove(write);
    parkedBytes -= write.held();
    beyond = beyond == write ? null : beyond;
    lane.unpark(write);
    enter(lane);
  }

  /**
   * Notes that a transaction is over. The documents of its parked writes stay reserved.
   *
   * @return as {@link #offer}
   */
  synchronized boolean release(QueuedBatch batch) {
    batchesInFlight--;
    bytesInFlight -= batch.bytes();
    plannedInFlight -= batch.plannedBytes();
    goingOn -= batch.goesOn() ? 1 : 0;
    bytesGoingOn -= batch.goesOn() ? batch.bytes() : 0;
    ClientWrites lane = batch.lane();
    lane.release(batch);
    batch.parked().forEach(lane::reserve);
    resumeForgotten();
    enter(lane);
    return (!line.isEmpty() && wakes()) || (closing && isIdle());
  }

  @Override
  public void describe(Meters meters) {
    meters.level("lectus_write_queue_edits", "Edits that wait.", () -> figure(() -> edits));
    meters.level(
        "lectus_write_queue_bytes",
        "Bytes of edits that wait or are in a transaction.",
        () -> figure(() -> bytes + bytesInFlight + parkedBytes));
    meters.level(
        "lectus_write_parked",
        "Writes that wait for functions to judge them.",
        () -> figure(this::parked));
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
    return edits == 0 && batchesInFlight == 0 && parked.isEmpty();
  }

  private boolean wakes() {
    boolean wakes = !executorAwake && mayAnythingGo();
    executorAwake |= wakes;
    return wakes;
  }

  private boolean mayAnythingGo() {
    return (comeBack > 0 && mayGoOn()) || mayFly();
  }

  private boolean mayFly() {
    int flying = batchesInFlight - goingOn;
    return flying < MAX_IN_FLIGHT && (flying == 0 || hasRoomInFlight()) && mayGoOn();
  }

  private boolean mayGoOn() {
    return plannedInFlight == 0 || hasRoomInFlight();
  }

  private boolean hasRoomInFlight() {
    long flying = bytesInFlight - bytesGoingOn + plannedInFlight;
    return flying < settings.queueBytes() / PART_IN_FLIGHT;
  }

  /**
   * How edits wait and how many of them go into one transaction.
   *
   * @param executors threads that run writing transactions, 1 or more
   * @param queueEdits most edits that may wait for one executor
   * @param queueBytes most memory of these, in bytes
   * @param batchEdits most edits of one transaction
   * @param batchBytes most memory of these, in bytes
   */
  public record WriteSettings(
      int executors, int queueEdits, long queueBytes, int batchEdits, long batchBytes) {
    /** The {@link #queueEdits} of a server. */
    public static final int QUEUE_EDITS = 10_000;

    /** The {@link #batchEdits} of a server. */
    public static final int BATCH_EDITS = 64;

    /** The {@link #batchBytes} of a server. */
    public static final int BATCH_BYTES = 1 << 20;

    public WriteSettings {
      if (executors < 1 || queueEdits < 1 || batchEdits < 1 || queueBytes < 1 || batchBytes < 1) {
        throw new IllegalArgumentException("Every bound of the write path is at least 1");
      }
    }
  }
}
