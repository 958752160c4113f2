package lectus.view;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import lectus.changes.log.UpdatesLog;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Lease;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.view.Views.Used;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings views up to date in the background, and removes indexes that are of no use. One server of
 * a store does, by a lease. It reads the updates log from where it was, which begins with the last
 * change of each database. So a database where nothing happens costs nothing, and one that changes
 * all the time is looked at once in a while. Used by one thread, which never waits for an update.
 */
public final class ViewFollower implements LeasedSteps {
  private static final Logger LOG = LoggerFactory.getLogger(ViewFollower.class);

  private static final String TASK = "views";

  /** About ten seconds: for how long nobody follows when its server dies. */
  private static final long LEASE_VERSIONS = 10_000_000;

  private static final int ROWS_PER_BUCKET = 32;

  /** Databases that wait. While there are so many, the log is not read. */
  private static final int MAX_WAITING = 1_000;

  /** Indexes that are brought up to date at a time. */
  private static final int AT_ONCE = 4;

  private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long RETRY_NANOS = Duration.ofMinutes(1).toNanos();

  /**
   * How long an index is of no use, and nobody writes to it, before it is removed: longer than a
   * request that found it waits for it.
   */
  static final Duration GRACE = Duration.ofMinutes(10);

  private final Views views;
  private final Followed followed;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final UpdatesLog log;
  private final Lease lease;
  private final LongSupplier nanoTime;
  private final Set<DatabaseName> waiting = new LinkedHashSet<>();
  private final Map<DatabaseName, Long> later = new HashMap<>();

  /** When documents were mapped again whose maps were not to blame. */
  private final Map<Wanted, Long> retried = new HashMap<>();

  private final Map<Suspect, Useless> useless = new HashMap<>();
  private final List<Running> running = new ArrayList<>();
  private final Deque<Wanted> wanted = new ArrayDeque<>();
  private Versionstamp next = Versionstamp.ZERO;
  private long lookedNanos;

  /** Which views are brought up to date although nobody waits for them. */
  public enum Followed {
    ALL,
    /** Those that a query has asked for since they were defined. */
    USED,
    NONE
  }

  private record Wanted(DatabaseName database, String design) {}

  private record Running(Wanted wanted, CompletableFuture<Boolean> update) {}

  private record Suspect(DatabaseName database, Registered index) {
    boolean isAmong(Views.Overview found) {
      return found.useless().containsKey(index);
    }
  }

  private record Useless(State state, long sinceNanos) {}

  public ViewFollower(Store store, TransactionRunner transactions, Views views, Followed followed) {
    this(store, transactions, views, followed, System::nanoTime);
  }

  ViewFollower(
      Store store,
      TransactionRunner transactions,
      Views views,
      Followed followed,
      LongSupplier nanoTime) {
    this.views = views;
    this.followed = followed;
    this.transactions = transactions;
    this.atTheEnd = new TransactionRunner(store, TransactionLimits.AT_THE_END);
    this.log = new UpdatesLog(store);
    this.lease = new Lease(store, TASK, LEASE_VERSIONS);
    this.nanoTime = nanoTime;
    this.lookedNanos = nanoTime.getAsLong() - PAUSE_NANOS;
  }

  @Override
  public boolean step() {
    long now = nanoTime.getAsLong();
    running.stream().filter(it -> it.update().isDone()).forEach(it -> ended(it, now));
    running.removeIf(it -> it.update().isDone());
    boolean isDue = now - lookedNanos >= PAUSE_NANOS;
    boolean hasRoom = running.size() < AT_ONCE && !(wanted.isEmpty() && waiting.isEmpty());
    if (!isDue && !hasRoom) {
      return false;
    }
    if (!look(isDue, now)) {
      return false;
    }
    if (wanted.isEmpty() && !waiting.isEmpty()) {
      Iterator<DatabaseName> first = waiting.iterator();
      DatabaseName database = first.next();
      first.remove();
      look(database, now);
    }
    while (running.size() < AT_ONCE && !wanted.isEmpty()) {
      begin(wanted.remove(), now);
    }
    return running.size() < AT_ONCE && !(wanted.isEmpty() && waiting.isEmpty());
  }

  /** Reads the log; returns false if another server follows. */
  private boolean look(boolean isDue, long now) {
    boolean reads = isDue && waiting.size() < MAX_WAITING;
    later.entrySet().stream()
        .filter(it -> now - it.getValue() >= 0)
        .map(Map.Entry::getKey)
        .forEach(waiting::add);
    later.values().removeIf(due -> now - due >= 0);
    Optional<UpdatesLog.Chunk> read =
        transactions.runIdempotent(
            tx -> {
              if (lease.isTaken(tx)) {
                return Optional.empty();
              }
              UpdatesLog.Chunk chunk =
                  reads
                      ? log.read(tx.snapshot(), next, ROWS_PER_BUCKET)
                      : new UpdatesLog.Chunk(List.of(), Optional.empty());
              if (!(chunk.rows().isEmpty() && waiting.isEmpty() && running.isEmpty())) {
                lease.hold(tx);
              }
              return Optional.of(chunk);
            });
    List<DatabaseUpdate> rows = read.map(UpdatesLog.Chunk::rows).orElse(List.of());
    rows.forEach(row -> waiting.add(row.name()));
    if (!rows.isEmpty()) {
      next = rows.get(rows.size() - 1).at().successor();
    }
    if (read.isEmpty() || (reads && read.get().next().isEmpty())) {
      lookedNanos = now;
    }
    return read.isPresent();
  }

  private void look(DatabaseName database, long now) {
    try {
      Views.Overview found = views.overview(database);
      for (Used used : found.used()) {
        if (follows(used)) {
          wanted.add(new Wanted(database, used.design()));
        }
      }
      useless.keySet().removeIf(it -> it.database().equals(database) && !it.isAmong(found));
      found.useless().forEach((index, state) -> judge(database, index, state, now));
    } catch (RuntimeException failure) {
      failed(database, failure, now);
    }
  }

  private boolean follows(Used used) {
    return switch (followed) {
      case ALL -> !used.isDropped();
      case USED -> used.isRegistered() && !used.isDropped();
      case NONE -> false;
    };
  }

  /** A database that is in trouble keeps no other one waiting. */
  private void failed(DatabaseName database, RuntimeException failure, long now) {
    LOG.debug("The views of {} are not followed", database, failure);
    if (failure instanceof LectusException gone && gone.error() instanceof LectusError.NotFound) {
      useless.keySet().removeIf(it -> it.database().equals(database));
    } else {
      lookLater(database, now + RETRY_NANOS);
    }
  }

  /** An index that stays of no use for a while is removed. */
  private void judge(DatabaseName database, Registered index, State state, long now) {
    Suspect key = new Suspect(database, index);
    Useless since = useless.get(key);
    if (since == null || !since.state().equals(state)) {
      if (useless.size() < MAX_WAITING) {
        useless.put(key, new Useless(state, now));
        lookLater(database, now + GRACE.toNanos());
      }
    } else if (now - since.sinceNanos() >= GRACE.toNanos()) {
      useless.remove(key);
      views.remove(database, index, state);
    } else {
      lookLater(database, since.sinceNanos() + GRACE.toNanos());
    }
  }

  private void lookLater(DatabaseName database, long atNanos) {
    if (later.size() < MAX_WAITING) {
      later.merge(database, atNanos, Math::min);
    }
  }

  private void begin(Wanted next, long now) {
    if (running.stream().anyMatch(it -> it.wanted().equals(next))) {
      lookLater(next.database(), now + PAUSE_NANOS);
      return;
    }
    try {
      retried.values().removeIf(at -> now - at >= RETRY_NANOS);
      boolean retries = retried.size() < MAX_WAITING && retried.putIfAbsent(next, now) == null;
      running.add(new Running(next, views.follow(next.database(), next.design(), retries)));
    } catch (RuntimeException failure) {
      failed(next.database(), failure, now);
    }
  }

  /** What failed is tried again, and what left out documents whose maps may pass later. */
  private void ended(Running update, long now) {
    if (update.update().isCompletedExceptionally() || update.update().getNow(false)) {
      lookLater(update.wanted().database(), now + RETRY_NANOS);
    }
  }

  @Override
  public void giveBack() {
    atTheEnd.writeIdempotent(tx -> lease.giveBack(tx));
  }
}
