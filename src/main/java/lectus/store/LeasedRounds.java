package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Rounds of a task, with a pause behind each, of which one server at a time performs one. The lease
 * is short and renewed by each piece, so another server soon begins a round of its own when the
 * holder dies. When the last round ended is kept apart: as a lease of its own name, which lasts for
 * the pause. So looking whether a round is due costs one read.
 *
 * <p>Both are measured in the store's versions, which stand still while nobody writes to an
 * embedded store. Who waits therefore commits now and then. Used by one thread.
 */
public final class LeasedRounds {
  /** Ten seconds: longer than a piece takes. */
  private static final long LEASE_VERSIONS = 10_000_000;

  /** Five minutes. */
  private static final long PAUSE_VERSIONS = 300_000_000;

  /** Ten seconds, while the disk is short of space: what runs in rounds frees some. */
  private static final long SHORT_PAUSE_VERSIONS = 10_000_000;

  private static final long NO_PAUSE = -1;

  /** How long one who waits for the pause commits nothing. */
  private static final long PATIENCE_NANOS = Duration.ofMinutes(1).toNanos();

  /** How long one who waits for another holder commits nothing. */
  private static final long SHORT_PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();

  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final Lease lease;
  private final Lease ended;
  private final Lease endedLately;
  private final BooleanSupplier isShortOfSpace;
  private final LongSupplier nanoTime;
  private long waitingSince;
  private boolean isUnderWay;

  /**
   * @param task its name in the store
   */
  public LeasedRounds(Store store, String task) {
    this(store, task, System::nanoTime);
  }

  LeasedRounds(Store store, String task, LongSupplier nanoTime) {
    this(store, task, PAUSE_VERSIONS, nanoTime);
  }

  private LeasedRounds(Store store, String task, long pauseVersions, LongSupplier nanoTime) {
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.atTheEnd = new TransactionRunner(store, TransactionLimits.AT_THE_END);
    this.lease = new Lease(store, task, LEASE_VERSIONS);
    this.ended = Lease.lasting(store, task + "-ended", pauseVersions);
    this.endedLately =
        Lease.lasting(store, task + "-ended", Math.min(pauseVersions, SHORT_PAUSE_VERSIONS));
    this.isShortOfSpace = store::isShortOfSpace;
    this.nanoTime = nanoTime;
    this.waitingSince = nanoTime.getAsLong();
  }

  /** Returns rounds of which one is always due. */
  public static LeasedRounds withoutPause(Store store, String task) {
    return new LeasedRounds(store, task, NO_PAUSE, System::nanoTime);
  }

  public interface Piece {
    /**
     * Does it.
     *
     * @param isFirst whether a round begins with it
     * @return whether the round has another one
     */
    boolean run(boolean isFirst);
  }

  /**
   * What a round finds at a time.
   *
   * @param next where it goes on to look; empty: nowhere
   */
  public record Found<T, P>(List<T> things, Optional<P> next) {}

  /**
   * Returns the pieces of rounds that look for things, some at a time, and deal with one in each
   * piece.
   *
   * @param look from a place; from the beginning if it is empty
   */
  public static <T, P> Piece each(Function<Optional<P>, Found<T, P>> look, Consumer<T> deal) {
    return new Each<>(look, deal);
  }

  private static final class Each<T, P> implements Piece {
    private final Function<Optional<P>, Found<T, P>> look;
    private final Consumer<T> deal;
    private final Deque<T> found = new ArrayDeque<>();
    private Optional<P> next = Optional.empty();

    Each(Function<Optional<P>, Found<T, P>> look, Consumer<T> deal) {
      this.look = look;
      this.deal = deal;
    }

    @Override
    public boolean run(boolean isFirst) {
      if (isFirst) {
        found.clear();
        next = Optional.empty();
      }
      if (found.isEmpty()) {
        Found<T, P> some = look.apply(next);
        found.addAll(some.things());
        next = some.next();
      } else {
        // One that fails keeps no other one waiting.
        deal.accept(found.remove());
      }
      return !found.isEmpty() || next.isPresent();
    }
  }

  /**
   * Does the next piece of a round, or the first one if a round is due and no other server is at
   * one. Renews the lease once.
   *
   * @param beginning is done in the transaction that takes the lease for a new round
   * @return whether to go on at once; false also if another server does it
   */
  public boolean step(Consumer<Transaction> beginning, Piece piece) {
    boolean isFirst = !isUnderWay;
    isUnderWay = isFirst ? begin(beginning) : goesOn();
    if (!isUnderWay) {
      return false;
    }
    isUnderWay = piece.run(isFirst);
    if (!isUnderWay) {
      end();
    }
    return isUnderWay;
  }

  /** Returns these rounds as steps, each of which does a piece. */
  public LeasedSteps steps(Piece piece) {
    return new LeasedSteps() {
      @Override
      public boolean step() {
        return LeasedRounds.this.step(tx -> {}, piece);
      }

      @Override
      public void giveBack() {
        LeasedRounds.this.giveBack();
      }
    };
  }

  /**
   * Begins a round if one is due and no other server is at one.
   *
   * @param beginning is done in the transaction that takes the lease
   */
  boolean begin(Consumer<Transaction> beginning) {
    boolean isDue = transactions.read(this::isDue);
    boolean begins = isDue && beginInTurn(beginning);
    if (!begins) {
      await(isDue ? SHORT_PATIENCE_NANOS : PATIENCE_NANOS);
    }
    return begins;
  }

  private boolean beginInTurn(Consumer<Transaction> beginning) {
    return transactions.runIdempotent(
        tx -> {
          boolean begins = isDue(tx) && holds(tx);
          if (begins) {
            beginning.accept(tx);
          }
          return begins;
        });
  }

  /** Commits nothing but a conflict, which gives the store a version of the present. */
  private void await(long patienceNanos) {
    long now = nanoTime.getAsLong();
    if (now - waitingSince >= patienceNanos) {
      waitingSince = now;
      transactions.writeIdempotent(
          tx -> {
            TransactionRunner.freesSpace(tx);
            ended.touch(tx);
          });
    }
  }

  /** Renews the lease before a piece. Returns false if another server has it. */
  public boolean goesOn() {
    return transactions.runIdempotent(this::holds);
  }

  /**
   * Renews the lease in a transaction that performs a piece. Returns false if another server has
   * it; then the transaction may perform nothing. It may commit while the disk is short of space.
   */
  public boolean holds(Transaction tx) {
    TransactionRunner.freesSpace(tx);
    if (lease.isTaken(tx)) {
      return false;
    }
    lease.hold(tx);
    return true;
  }

  /** Ends a round: the next one is due after the pause. Does nothing if another server has it. */
  void end() {
    transactions.writeIdempotent(
        tx -> {
          if (holds(tx)) {
            ended.renew(tx);
          }
        });
    waitingSince = nanoTime.getAsLong();
  }

  public void giveBack() {
    atTheEnd.writeIdempotent(
        tx -> {
          TransactionRunner.freesSpace(tx);
          lease.giveBack(tx);
        });
  }

  private boolean isDue(ReadTransaction tx) {
    return !(isShortOfSpace.getAsBoolean() ? endedLately : ended).isYoung(tx);
  }

  /**
   * Work in the background, done in steps. Every server tries; each piece is done by the one that
   * holds its {@link Lease}. Used by one thread.
   */
  public interface LeasedSteps {
    /**
     * Takes the next step.
     *
     * @return true if another one is to follow at once; false if there is nothing to do now, or
     *     another server does it
     */
    boolean step();

    /** Releases the leases, so that another server can go on at once. No step follows. */
    void giveBack();
  }
}
