package lectus.relocation;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import lectus.changes.log.GoneSubspace;
import lectus.changes.page.DatabaseNotifications;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.RelocationsSubspace;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.OtherPlace;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.Whereabouts;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Secret;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.client.HttpCaller;
import lectus.http.client.RemoteAddress;
import lectus.http.client.RemoteAddress.Login;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * The databases of this store that leave for other places. Any server of the store moves one that
 * no other moves. Thread-safe.
 */
public final class Relocations implements LeasedSteps, Measured {
  private static final int COPIED_AT_ONCE = 4;

  /** Each that waits until the other place answers has a thread. */
  static final int MOST_UNDER_WAY = 100;

  /** Of more the oldest that are over are forgotten. */
  static final int MOST_KEPT = 1_000;

  private static final int MAX_TARGET_LENGTH = 8_000;
  private static final int SECRET_BYTES = 32;
  private static final int ID_BYTES = 16;
  private static final long NANOS_OF_A_VERSION = 1_000;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Ten seconds are longer than a step between two renewals. */
  private static final RelocationPace USUAL = new RelocationPace(10_000_000, 100, 10_000, 16 << 20);

  private final RelocationParts parts;
  private final TransactionRunner transactions;
  private final RelocationsSubspace rows;
  private final InstantSource clock = InstantSource.system();
  private final RelocationPace pace;
  private final Map<String, Relocation> running = new ConcurrentHashMap<>();
  private final Semaphore copying = new Semaphore(COPIED_AT_ONCE);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong moved = new AtomicLong();
  private volatile boolean isStopped;

  /** The store's version at the last look, and since when it stands still. */
  private long lastVersion;

  private long stillSinceNanos = System.nanoTime();

  /**
   * What a relocation uses.
   *
   * @param mostBytesPerSecond of what is copied; 0: as fast as it goes
   */
  public record RelocationParts(
      Store store,
      Catalogue catalogue,
      HttpCaller caller,
      DatabaseNotifications events,
      LongSupplier mostBytesPerSecond) {}

  public Relocations(RelocationParts parts) {
    this(parts, USUAL);
  }

  /**
   * How often something happens.
   *
   * @param lease versions after which another server may go on
   * @param firstPauseMillis before a step that failed is taken again; doubles each time
   * @param longestPauseMillis up to this
   * @param markedBytes of a copy that are sent again at most if it breaks off, about
   */
  record RelocationPace(
      long lease, long firstPauseMillis, long longestPauseMillis, long markedBytes) {}

  Relocations(RelocationParts parts, RelocationPace pace) {
    this.parts = parts;
    this.transactions = new TransactionRunner(parts.store(), TransactionLimits.DEFAULT);
    this.rows = new RelocationsSubspace(parts.store().rootPrefix());
    this.pace = pace;
  }

  @Override
  public void describe(Meters meters) {
    meters.level(
        "lectus_relocations", "Databases that this server moves elsewhere.", running::size);
    meters.count(
        "lectus_relocation_sent_bytes", "Bytes of databases sent to other places.", sent::get);
    meters.count("lectus_relocations_moved", "Databases that were moved elsewhere.", moved::get);
  }

  void sent(long bytes) {
    sent.addAndGet(bytes);
  }

  void hasMoved() {
    moved.incrementAndGet();
  }

  boolean isStopped() {
    return isStopped;
  }

  /**
   * Has a database moved to another place. Waits for the store.
   *
   * @param target the URL of the database there, or of the server if it ends with a slash or names
   *     nothing else; with a name and a password
   * @param forwardSeconds for how long requests are passed on from then on; empty: for ever
   * @throws LectusException {@code bad_request}, {@code not_found}; {@code conflict} (409): it
   *     moves already
   */
  public Departure begin(DatabaseName name, String target, OptionalLong forwardSeconds) {
    Arrivals.requireMovable(name);
    OtherPlace other = place(name, target);
    Arrivals.requireMovable(other.name());
    return transactions.run(
        tx -> {
          DatabaseHandle db = parts.catalogue().current(tx, name);
          List<Departure> all = rows.departures(tx);
          List<Departure> open = all.stream().filter(it -> !it.phase().isOver()).toList();
          if (open.stream().anyMatch(it -> it.database().equals(name))) {
            throw conflict("The database is being moved already.");
          }
          if (open.size() >= MOST_UNDER_WAY) {
            throw conflict("Too many relocations are under way.");
          }
          all.stream()
              .filter(it -> it.phase().isOver())
              .sorted(Comparator.comparingLong(Departure::begunSeconds))
              .limit(Math.max(0, all.size() - MOST_KEPT + 1))
              .forEach(it -> rows.clear(tx, it.id()));
          Departure begun =
              new Departure(
                  random(ID_BYTES),
                  Phase.COPYING,
                  name,
                  db.instance(),
                  other,
                  new Secret(random(SECRET_BYTES)),
                  0,
                  0,
                  false,
                  clock.instant().getEpochSecond(),
                  "",
                  forwardSeconds);
          rows.put(tx, begun);
          return begun;
        });
  }

  private static LectusException conflict(String reason) {
    return new LectusException(new LectusError.NotNow(reason));
  }

  private static String random(int length) {
    byte[] bytes = new byte[length];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private static OtherPlace place(DatabaseName name, String target) {
    if (target.length() > MAX_TARGET_LENGTH) {
      throw LectusException.badRequest("The target may have " + MAX_TARGET_LENGTH + " characters.");
    }
    RemoteAddress address = RemoteAddress.of(target, Map.of(), Optional.empty());
    URI url = address.url();
    if (url.getRawQuery() != null || url.getRawFragment() != null) {
      throw LectusException.badRequest("The target is the URL of a database or of a server.");
    }
    String path = url.getRawPath();
    boolean isOfServer = target.endsWith("/") || path.length() <= 1;
    String server = url.toString();
    DatabaseName there = name;
    if (!isOfServer) {
      String last = path.substring(path.lastIndexOf('/', path.length() - 2) + 1, path.length() - 1);
      server = server.substring(0, server.length() - last.length() - 1);
      there = DatabaseName.of(URLDecoder.decode(last.replace("+", "%2B"), StandardCharsets.UTF_8));
    }
    Login login = address.login().orElse(new Login("", ""));
    return new OtherPlace(server, there, login.name(), new Secret(login.password()));
  }

  /** Returns all that were begun and not removed, the newest first. Waits for the store. */
  public List<Departure> all() {
    return transactions.read(rows::departures).stream()
        .sorted(Comparator.comparingLong(Departure::begunSeconds).reversed())
        .toList();
  }

  /**
   * @throws LectusException {@code not_found}
   */
  public Departure get(String id) {
    return transactions.read(
        tx -> rows.departure(tx, id).orElseThrow(() -> LectusException.notFound("missing")));
  }

  /**
   * Gives a relocation up, so that the database stays here, unless the other place has taken over;
   * removes one that is over.
   *
   * @param isForced whether a database that is frozen takes writes at once, though the other place
   *     may have taken over: then both are written
   * @throws LectusException {@code not_found}
   */
  public void giveUp(String id, boolean isForced) {
    transactions.run(
        tx -> {
          Departure it =
              rows.departure(tx, id).orElseThrow(() -> LectusException.notFound("missing"));
          if (it.phase().isOver()) {
            rows.clear(tx, id);
          } else if (isForced && it.phase() == Phase.FROZEN) {
            thaw(tx, it);
            rows.put(tx, it.in(Phase.ENDED, "It was ended without the word of the other place."));
          } else {
            rows.put(tx, it.asGivenUp());
          }
          return null;
        });
    Optional.ofNullable(running.get(id)).ifPresent(Relocation::hurry);
  }

  /** Lets a database be written again. Nothing follows its changes any more. */
  void thaw(Transaction tx, Departure it) {
    parts
        .catalogue()
        .locate(tx, it.database())
        .filter(db -> isFrozenBy(db, it))
        .ifPresent(
            db -> {
              parts.catalogue().relocate(tx, db, Whereabouts.HERE);
              new GoneSubspace(db).unfollow(tx, follower(it.id()));
            });
  }

  /** Returns what follows the changes of a database. No name that a client can give. */
  static String follower(String id) {
    return "~" + id;
  }

  /** Does what copies a database; returns false if as many others are being copied. */
  boolean copying(Runnable copies) {
    if (!copying.tryAcquire()) {
      return false;
    }
    try {
      copies.run();
    } finally {
      copying.release();
    }
    return true;
  }

  private static boolean isFrozenBy(DatabaseHandle db, Departure it) {
    return db.instance().equals(it.instance())
        && db.whereabouts() instanceof Frozen frozen
        && frozen.relocation().equals(it.id());
  }

  /** Begins to move what nobody moves. */
  @Override
  public boolean step() {
    Map<Boolean, List<Departure>> isHeld = transactions.read(this::leftByHolder);
    for (Departure each : isHeld.get(false)) {
      boolean waits =
          each.phase() == Phase.COPYING && !each.givenUp() && copying.availablePermits() == 0;
      if (!waits && !isStopped) {
        running.computeIfAbsent(each.id(), this::start);
      }
    }
    if (isHeld.get(true).isEmpty()) {
      stillSinceNanos = System.nanoTime();
    } else {
      goOnIfStill();
    }
    return false;
  }

  /** Returns those that do not run here, by whether another server has them. */
  private Map<Boolean, List<Departure>> leftByHolder(ReadTransaction tx) {
    long version = Awaiting.await(tx.getReadVersion());
    if (version != lastVersion) {
      lastVersion = version;
      stillSinceNanos = System.nanoTime();
    }
    return rows.departures(tx).stream()
        .filter(it -> !it.phase().isOver() && !running.containsKey(it.id()))
        .collect(Collectors.partitioningBy(it -> lease(it.id()).isYoung(tx)));
  }

  /**
   * Versions stand still in an embedded store that nobody writes to, and a lease is as old as they
   * are: this commit of nothing gives the store a version of the present.
   */
  private void goOnIfStill() {
    if (System.nanoTime() - stillSinceNanos > pace.lease() * NANOS_OF_A_VERSION) {
      transactions.runIdempotent(
          tx -> {
            tx.addWriteConflictKey(parts.store().rootPrefix());
            return null;
          });
    }
  }

  Lease lease(String id) {
    return new Lease(parts.store(), "relocation-" + id, pace.lease());
  }

  private Relocation start(String id) {
    Relocation relocation = new Relocation(this, parts, id, pace);
    Thread thread =
        new Thread(
            () -> {
              try {
                relocation.run();
              } finally {
                running.remove(id);
              }
            },
            "lectus-relocation-" + id.substring(0, 8).toLowerCase(Locale.ROOT));
    thread.setDaemon(true);
    relocation.runsOn(thread);
    thread.start();
    return relocation;
  }

  @Override
  public void giveBack() {
    isStopped = true;
    running.values().forEach(Relocation::stop);
  }
}
