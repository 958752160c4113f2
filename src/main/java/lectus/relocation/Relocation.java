package lectus.relocation;

import com.apple.foundationdb.Transaction;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import lectus.changes.log.GoneSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.RelocationsSubspace;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.OtherPlace;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.Sequence;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Moved;
import lectus.error.LectusException;
import lectus.http.client.CouchClient;
import lectus.http.client.CouchClient.JsonAnswer;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.http.client.HttpCall.CallBody;
import lectus.http.client.RemoteAddress;
import lectus.http.client.RemoteAddress.Login;
import lectus.image.ImageReading;
import lectus.image.ImageReading.Asked;
import lectus.image.ImageReading.ResumableCopy;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.relocation.Relocations.RelocationPace;
import lectus.relocation.Relocations.RelocationParts;
import lectus.store.Lease;
import lectus.store.StoreFailures;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The move of one database, by the server that has its lease:
 *
 * <pre>
 * COPYING  the image, and increments until one takes little time
 * FROZEN   the last increment; the other place is asked to open the database
 * MOVED    it has
 * </pre>
 *
 * It is frozen until the other place has said what it has decided for good: then it has moved, or
 * is copied anew. Each attempt has a number, which every transaction compares: a server that was
 * asleep while another went on changes nothing. Used by one thread.
 */
final class Relocation {
  private static final Logger LOG = LoggerFactory.getLogger(Relocation.class);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long RENEWAL_NANOS = Duration.ofSeconds(1).toNanos();

  /** Bytes a second; a body that comes much slower is given up. */
  private static final long LEAST_RATE = 10_000;

  /**
   * Attempts, one after the other, that were lost on their way; what one before has left is not
   * looked for.
   */
  private static final int MOST_LOST = 10;

  /** Between two looks whether all is stored. */
  private static final long LONGEST_LOOK_MILLIS = 100;

  /** An increment that takes no longer may be followed by the last one. */
  private static final long SHORT_NANOS = Duration.ofMillis(300).toNanos();

  /** Then writers are faster than it, and have to wait. */
  private static final int MOST_INCREMENTS = 50;

  /** Bytes; at the least rate some seconds. */
  private static final int WRITTEN_AT_ONCE = 32 << 10;

  private static final int UNAUTHORIZED = 401;
  private static final int NOT_FOUND = 404;

  /** The other place says what will not change by itself. */
  private static final Set<Integer> FINAL = Set.of(400, 401, 403, 404, 405, 412, 413, 501);

  private final Relocations all;
  private final RelocationParts parts;
  private final String id;
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final RelocationsSubspace rows;
  private final Lease lease;
  private final RelocationPace pace;
  private final Semaphore hurried = new Semaphore(0);
  private volatile Thread thread;
  private long renewedNanos;
  private long pausesUntilNanos = System.nanoTime();

  /** Whether the other place has what cannot be gone on with. */
  private boolean beginsAnew;

  /** Whether the last increment was sent again since the database was frozen. */
  private boolean hasSentAgain;

  Relocation(Relocations all, RelocationParts parts, String id, RelocationPace pace) {
    this.all = all;
    this.parts = parts;
    this.id = id;
    this.catalogue = parts.catalogue();
    this.transactions = new TransactionRunner(parts.store(), TransactionLimits.DEFAULT);
    this.rows = new RelocationsSubspace(parts.store().rootPrefix());
    this.lease = all.lease(id);
    this.pace = pace;
  }

  void runsOn(Thread its) {
    thread = its;
  }

  void stop() {
    thread.interrupt();
  }

  /** Ends a pause: it is not wanted any more. */
  void hurry() {
    hurried.release();
  }

  /** It is no longer as it was when the step began: given up, or another server goes on with it. */
  private static final class OvertakenException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OvertakenException() {
      super(null, null, false, false);
    }
  }

  /** Goes on until it is over, or another server goes on with it. */
  void run() {
    long pause = pace.firstPauseMillis();
    String told = "";
    try {
      while (!all.isStopped()) {
        try {
          Departure now = transactions.runIdempotent(this::claim).orElse(null);
          if (now == null || now.phase().isOver()) {
            return;
          }
          if (!advance(now)) {
            return;
          }
          pause = pace.firstPauseMillis();
        } catch (OvertakenException again) {
          LOG.debug("The relocation {} was overtaken", id);
        } catch (RuntimeException failure) {
          String reason = reason(failure);
          if (!reason.equals(told)) {
            LOG.warn("The relocation {} does not go on: {}", id, reason);
            told = reason;
          }
          tell(reason);
          sleep(pause);
          pause = Math.min(pace.longestPauseMillis(), 2 * pause);
        }
      }
    } catch (Throwable failure) {
      if (!all.isStopped()) {
        LOG.error("The relocation {} broke off", id, failure);
      }
    } finally {
      release();
    }
  }

  private String reason(RuntimeException failure) {
    if (failure instanceof RemoteFailure) {
      return failure.getMessage();
    }
    return StoreFailures.foreseen(failure)
        .orElseGet(
            () -> {
              LOG.error("A step of the relocation {} failed", id, failure);
              return StoreFailures.unforeseen(failure, "A step failed.");
            })
        .reason();
  }

  private void release() {
    try {
      transactions.runIdempotent(
          tx -> {
            lease.giveBack(tx);
            return null;
          });
    } catch (RuntimeException expires) {
      LOG.debug("The lease of a relocation was not given back", expires);
    }
  }

  /** Returns empty if another server has the lease, or there is no such relocation any more. */
  private Optional<Departure> claim(Transaction tx) {
    if (lease.isTaken(tx)) {
      return Optional.empty();
    }
    lease.hold(tx);
    return rows.departure(tx, id);
  }

  /** Returns it as it is now, in a transaction that goes on from the same. */
  private Departure same(Transaction tx, Departure before) {
    return claim(tx)
        .filter(now -> now.phase() == before.phase() && now.attempt() == before.attempt())
        .orElseThrow(OvertakenException::new);
  }

  private <T> T change(Departure before, Function<Departure, T> change, Transaction tx) {
    return change.apply(same(tx, before));
  }

  /** Returns false if there is no place for it here; another server may have one. */
  private boolean advance(Departure now) {
    if (now.phase() == Phase.FROZEN) {
      decide(now);
    } else {
      Optional<String> why = whyNot(now);
      if (why.isEmpty()) {
        return all.copying(() -> copy(now));
      }
      tellOnce(now, "");
      end(now, why.get());
    }
    return true;
  }

  /** Returns why it is not to be copied any more; empty if it is. */
  private Optional<String> whyNot(Departure now) {
    Optional<DatabaseHandle> db = catalogue.locate(now.database());
    if (db.isEmpty()) {
      return Optional.of("The database was deleted.");
    }
    if (!db.get().instance().equals(now.instance())) {
      return Optional.of("The database was deleted. What has its name now came later.");
    }
    return now.givenUp() ? Optional.of("It was given up.") : Optional.empty();
  }

  /**
   * Tells the other place that nothing is asked for any more. What it has of an attempt that does
   * not go on it drops then, or else after an hour; that it has opened a database it forgets then
   * {@code ?known=true}, or else never.
   */
  private void tellOnce(Departure now, String query) {
    try {
      client(now).json("DELETE", path(now) + query, Optional.empty());
    } catch (RemoteFailure | LectusException unknown) {
      LOG.debug("The other place was not told that a relocation is over", unknown);
    }
  }

  private void end(Departure now, String reason) {
    transactions.run(
        tx -> {
          Departure it = same(tx, now);
          rows.put(tx, it.in(Phase.ENDED, reason));
          catalogue
              .locate(tx, it.database())
              .filter(db -> db.instance().equals(it.instance()))
              .ifPresent(db -> unfollow(tx, db));
          return null;
        });
  }

  private void unfollow(Transaction tx, DatabaseHandle db) {
    catalogue.guard(tx, db);
    new GoneSubspace(db).unfollow(tx, Relocations.follower(id));
  }

  private void tell(String reason) {
    try {
      transactions.runIdempotent(
          tx -> {
            claim(tx)
                .filter(it -> !it.phase().isOver())
                .ifPresent(it -> rows.put(tx, it.in(it.phase(), reason)));
            return null;
          });
    } catch (RuntimeException untold) {
      LOG.debug("The reason of a relocation was not stored", untold);
    }
  }

  private void sleep(long millis) {
    try {
      if (hurried.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
        hurried.drainPermits();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private CouchClient client(Departure now) {
    OtherPlace other = now.other();
    Optional<Login> login =
        other.user().isEmpty()
            ? Optional.empty()
            : Optional.of(new Login(other.user(), other.password().text()));
    RemoteAddress address = RemoteAddress.of(other.server() + "_relocations/", Map.of(), login);
    return new CouchClient(parts.caller(), address, 0, PATIENCE, all::isStopped);
  }

  private static String path(Departure now) {
    return now.id() + "/arrivals/" + now.attempt();
  }

  /** Returns how the attempt stands at the other place. */
  private String ask(Departure now, String method) {
    JsonAnswer answer = client(now).json(method, path(now), Optional.empty());
    if (answer.isOk() && !answer.text("state").isEmpty()) {
      return answer.text("state");
    }
    endIfFinal(now, answer);
    throw refused(answer);
  }

  /** A stream may have lost its end, and look whole. */
  private boolean isReady(Departure now) {
    JsonAnswer answer = client(now).json("GET", path(now), Optional.empty());
    if (!answer.isOk() && answer.status() != NOT_FOUND) {
      throw refused(answer);
    }
    return answer.text("state").equals("ready") && images(answer) == now.images() + 1;
  }

  private static long images(JsonAnswer answer) {
    return answer.json() instanceof JsonObject object
            && object.get("images").orElse(null) instanceof JsonNumber images
            && images.text().matches("[0-9]{1,9}")
        ? Long.parseLong(images.text())
        : -1;
  }

  private static LectusException refused(JsonAnswer answer) {
    String told = answer.text("reason");
    return LectusException.unavailable(
        answer.isOk()
            ? "The other place has given the attempt up."
            : "The other place answers " + answer.status() + (told.isEmpty() ? "." : ": " + told));
  }

  /** Nothing is written here until the other place has decided. */
  private void decide(Departure now) {
    String state = "";
    if (!now.givenUp() && isReady(now)) {
      JsonBuffer secret = new JsonBuffer(100).ascii("{\"secret\":").string(now.secret().text());
      Optional<byte[]> body = Optional.of(secret.octet('}').toBytes());
      JsonAnswer answer = client(now).json("PUT", path(now), body);
      if (!answer.isOk()) {
        throw refused(answer);
      }
      state = answer.text("state");
    }
    if (!state.equals("open")) {
      if (!now.givenUp() && sendAgain(now)) {
        return;
      }
      state = ask(now, "DELETE");
    }
    switch (state) {
      case "open" -> move(now);
      case "aborted" -> thaw(now);
      default ->
          throw LectusException.unavailable("The other place does not say what it has decided.");
    }
  }

  /**
   * Sends what the other place lacks of the last increment, as another attempt. Once: who writes
   * does not wait for a connection that breaks ever again.
   *
   * @return false if it lacks more, or has nothing left
   */
  private boolean sendAgain(Departure now) {
    if (hasSentAgain) {
      return false;
    }
    hasSentAgain = true;
    Optional<Left> left = left(now).filter(it -> it.images() == now.images());
    left.ifPresent(it -> send(now, left));
    return left.isPresent();
  }

  private void move(Departure now) {
    transactions.run(
        tx -> {
          Departure it = same(tx, now);
          rows.put(tx, it.in(Phase.MOVED, ""));
          OptionalLong until =
              it.forwardSeconds().isPresent()
                  ? OptionalLong.of(
                      InstantSource.system().instant().getEpochSecond()
                          + it.forwardSeconds().getAsLong())
                  : OptionalLong.empty();
          catalogue
              .locate(tx, it.database())
              .filter(db -> db.instance().equals(it.instance()))
              .ifPresent(
                  db -> {
                    unfollow(tx, db);
                    catalogue.relocate(tx, db, new Moved(id, it.other().url(), it.secret(), until));
                  });
          return null;
        });
    parts.events().publishDeleted(now.instance(), now.database());
    all.hasMoved();
    // This server passes on from now on, requests with a body, too.
    catalogue.locate(now.database());
    tellOnce(now, "?known=true");
    LOG.info("The database {} has moved to {}", now.database(), now.other().url());
  }

  private void thaw(Departure now) {
    transactions.run(
        tx -> {
          Departure it = same(tx, now);
          all.thaw(tx, it);
          rows.put(tx, it.in(Phase.COPYING, "The other place has given the attempt up."));
          return null;
        });
  }

  private void copy(Departure now) {
    Optional<Left> left = now.attempt() > 0 && !beginsAnew ? left(now) : Optional.empty();
    beginsAnew = false;
    if (now.attempt() > 0 && left.isEmpty() && ask(now, "DELETE").equals("open")) {
      end(now, "The other place has taken over.");
      return;
    }
    send(now, left);
  }

  /** Sends what there is, or what is left of it, as the next attempt. */
  private void send(Departure now, Optional<Left> left) {
    Departure next = now.atAttempt(now.attempt() + 1);
    transactions.run(
        tx -> {
          Departure it = same(tx, now);
          rows.put(tx, it.atAttempt(next.attempt()));
          return null;
        });
    String target =
        path(next)
            + "?database="
            + CouchClient.encoded(next.other().name().text())
            + left.map(it -> "&after=" + it.attempt() + "&images=" + it.images()).orElse("");
    Stream stream = new Stream(next, left);
    JsonAnswer answer;
    try {
      answer = client(next).json("POST", target, Optional.of(stream), "application/octet-stream");
    } finally {
      beginsAnew = stream.copy.isImpossible();
    }
    if (answer.isOk()) {
      return;
    }
    endIfFinal(next, answer);
    throw refused(answer);
  }

  /**
   * What an attempt has left at the other place that broke off.
   *
   * @param attempt its number
   * @param images that are whole
   * @param mark from where its image goes on
   */
  private record Left(long attempt, long images, byte[] mark) {}

  /** Returns empty if nothing is left, or nothing that could be gone on with. */
  private Optional<Left> left(Departure now) {
    Departure last = now;
    JsonAnswer answer = client(last).json("GET", path(last), Optional.empty());
    while (answer.status() == NOT_FOUND
        && last.attempt() > Math.max(1, now.attempt() - MOST_LOST)) {
      last = last.atAttempt(last.attempt() - 1);
      answer = client(last).json("GET", path(last), Optional.empty());
    }
    if (!answer.isOk()
        || !answer.text("state").equals("receiving")
        || !(answer.json() instanceof JsonObject object)
        || !(object.get("reached").orElse(null) instanceof JsonString mark)) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new Left(last.attempt(), images(answer), Base64.getDecoder().decode(mark.value())));
    } catch (IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * Ends it if the other place does not take what is copied, and will not: whoever asks again and
   * again with a password that is none locks its user out. What is frozen waits for a decision.
   */
  private void endIfFinal(Departure attempt, JsonAnswer answer) {
    if (!FINAL.contains(answer.status())) {
      return;
    }
    Phase phase =
        transactions.read(tx -> rows.departure(tx, id)).map(Departure::phase).orElse(Phase.ENDED);
    if (phase == Phase.COPYING) {
      if (answer.status() != UNAUTHORIZED) {
        tellOnce(attempt, "");
      }
      end(attempt, refused(answer).error().reason());
      throw new OvertakenException();
    }
  }

  /**
   * Whatever the database is, in one stream: its image, or what is left of it, and increments. Of
   * one that is frozen nothing follows.
   */
  private final class Stream implements CallBody {
    private final Departure attempt;
    private final ResumableCopy copy;
    private final long imagesBefore;

    Stream(Departure attempt, Optional<Left> left) {
      this.attempt = attempt;
      this.copy = new ResumableCopy(pace.markedBytes(), left.map(Left::mark));
      this.imagesBefore = left.map(Left::images).orElse(0L);
    }

    @Override
    public long length() {
      return UNKNOWN;
    }

    @Override
    public boolean isRepeatable() {
      return false;
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      Sequence last = send(out, Optional.empty());
      if (attempt.phase() == Phase.FROZEN) {
        return;
      }
      awaitStored(out, last);
      boolean isShort = false;
      int images = 1;
      for (; images <= MOST_INCREMENTS && !isShort; images++) {
        long begun = System.nanoTime();
        last = send(out, Optional.of(last));
        awaitStored(out, last);
        isShort = System.nanoTime() - begun <= SHORT_NANOS;
      }
      freeze(imagesBefore + images);
      send(out, Optional.of(last));
    }

    private Sequence send(OutputStream out, Optional<Sequence> since) throws IOException {
      String name = attempt.database().text();
      Map<String, String> details = Map.of("target", attempt.other().url());
      try (ImageReading image =
          new ImageReading(
              parts.store(),
              catalogue,
              InstantSource.system(),
              DatabaseRequest.byServer(attempt.database()),
              new Asked(
                  since, Optional.of(Relocations.follower(id)), any -> false, Optional.of(copy)),
              // As many as write it meanwhile, it has to arrive.
              () -> false,
              parts.store().tasks().begin("relocation", name, details))) {
        boolean more = true;
        while (more) {
          JsonBuffer part = new JsonBuffer(1 << 10);
          more = image.appendNext(part);
          write(part, out);
          keepPace(part.length());
          renew();
          if (more) {
            pause(image.pauseMillis());
          }
        }
        out.flush();
        return image.last().orElseThrow();
      }
    }

    /** A part may take longer than the lease lasts, where the other place is slow. */
    private void write(JsonBuffer part, OutputStream out) throws IOException {
      for (int at = 0; at < part.length(); at += WRITTEN_AT_ONCE) {
        int length = Math.min(WRITTEN_AT_ONCE, part.length() - at);
        out.write(part.array(), at, length);
        all.sent(length);
        renew();
      }
    }

    private void keepPace(int bytes) throws IOException {
      long most = parts.mostBytesPerSecond().getAsLong();
      long now = System.nanoTime();
      if (most == 0) {
        pausesUntilNanos = now;
        return;
      }
      long takes =
          (long) (bytes * (double) Duration.ofSeconds(1).toNanos() / Math.max(LEAST_RATE, most));
      pausesUntilNanos = Math.max(pausesUntilNanos, now) + takes;
      pause(Duration.ofNanos(pausesUntilNanos - now).toMillis());
    }

    private void pause(long millis) throws IOException {
      try {
        long left = millis;
        while (left > 0) {
          long part = Math.min(left, Duration.ofNanos(RENEWAL_NANOS).toMillis());
          TimeUnit.MILLISECONDS.sleep(part);
          left -= part;
          renew();
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }

    /** Looks whether it is to go on. */
    private void renew() throws IOException {
      if (all.isStopped()) {
        throw new InterruptedIOException();
      }
      if (System.nanoTime() - renewedNanos > RENEWAL_NANOS) {
        boolean isGivenUp =
            transactions.runIdempotent(tx -> change(sentPhase(tx), Departure::givenUp, tx));
        if (isGivenUp) {
          throw new OvertakenException();
        }
        renewedNanos = System.nanoTime();
      }
    }

    /** Its last increment is sent when it is frozen. */
    private Departure sentPhase(Transaction tx) {
      return rows.departure(tx, id)
          .filter(it -> it.attempt() == attempt.attempt())
          .orElseThrow(OvertakenException::new);
    }

    /** So that an increment that takes little time to send says how much there is to do. */
    private void awaitStored(OutputStream out, Sequence last) throws IOException {
      long begun = System.nanoTime();
      long pause = 2;
      CouchClient client = client(attempt);
      while (true) {
        JsonAnswer answer = client.json("GET", path(attempt), Optional.empty());
        // A proxy may keep back that it was refused.
        boolean mayBegin = System.nanoTime() - begun < PATIENCE.toNanos();
        boolean isExpected =
            answer.status() == NOT_FOUND ? mayBegin : answer.text("state").equals("receiving");
        if (!isExpected) {
          endIfFinal(attempt, answer);
          throw refused(answer);
        }
        if (answer.text("update_seq").equals(last.toString())) {
          return;
        }
        pause(pause);
        renew();
        pause = Math.min(LONGEST_LOOK_MILLIS, 2 * pause);
        // If it has answered, this ends the stream.
        out.flush();
      }
    }

    private void freeze(long images) {
      transactions.run(
          tx -> {
            Departure it = same(tx, attempt);
            DatabaseHandle db = catalogue.current(tx, it.database());
            if (it.givenUp() || !db.instance().equals(it.instance())) {
              throw new OvertakenException();
            }
            rows.put(tx, it.frozenAfter(images));
            catalogue.relocate(tx, db, new Frozen(id, it.other().url()));
            return null;
          });
      hasSentAgain = false;
    }
  }
}
