package lectus.relocation;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Incarnations.Origin;
import lectus.database.RelocationsSubspace;
import lectus.database.RelocationsSubspace.Arrival;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Standing;
import lectus.database.RestoresSubspace;
import lectus.database.Whereabouts.Secret;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.image.ImageStoring;
import lectus.image.ImageStoring.Former;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Databases that arrive from other places. Of each attempt one transaction decides: it opens the
 * database, or nothing ever will. Its methods wait for the store.
 */
public final class Arrivals {
  private static final Arrival ABORTED = Arrival.without(Standing.ABORTED);

  private final Store store;
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final RelocationsSubspace relocations;
  private final RestoresSubspace restores;

  public Arrivals(Store store, Catalogue catalogue) {
    this.store = store;
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.relocations = new RelocationsSubspace(store.rootPrefix());
    this.restores = new RestoresSubspace(store.rootPrefix());
  }

  /**
   * Begins to take what a database is. At the end of it the database is whole, and waits.
   *
   * @param former an attempt that broke off, with which this one goes on
   * @throws LectusException {@code bad_request}: no other place may have it
   */
  public ImageStoring receive(Attempt attempt, Optional<Former> former, DatabaseName name) {
    requireMovable(name);
    return new ImageStoring(
        store, catalogue, name, Optional.of(attempt), former, InstantSource.system());
  }

  /**
   * @throws LectusException {@code bad_request}
   */
  static void requireMovable(DatabaseName name) {
    if (name.isSystem()
        || name.text().endsWith("/_replicator")
        || name.text().endsWith("/_users")) {
      throw LectusException.badRequest(
          "Each server has its own users and replications: " + name + " cannot be moved.");
    }
  }

  /**
   * Returns what has become of an attempt. What was removed since nothing came for long can never
   * be opened.
   *
   * @throws LectusException {@code not_found}
   */
  public Arrival outcome(Attempt attempt) {
    return transactions
        .read(tx -> relocations.arrival(tx, attempt).map(it -> isLost(tx, it) ? ABORTED : it))
        .orElseThrow(() -> LectusException.notFound("missing"));
  }

  /**
   * Makes everybody find the database, unless the attempt was given up.
   *
   * @param secret with which the other place will vouch for its users
   * @return what is decided
   */
  public Arrival open(Attempt attempt, Secret secret) {
    return transactions.run(
        tx -> {
          Optional<Arrival> found = relocations.arrival(tx, attempt);
          boolean isReady = found.filter(it -> it.standing() == Standing.READY).isPresent();
          if (!isReady) {
            return found
                .filter(it -> it.standing() == Standing.OPEN)
                .orElseGet(() -> abort(tx, attempt));
          }
          DatabaseInstance life = found.get().life().orElseThrow();
          if (!isKept(tx, life) || isTaken(tx, life)) {
            return abort(tx, attempt);
          }
          Arrival open = found.get().in(Standing.OPEN);
          relocations.put(tx, attempt, open);
          restores.clear(tx, life.instance());
          DatabaseHandle db =
              catalogue.appear(tx, life, open.createdAtSeconds(), Origin.MOVED, open.last());
          catalogue.vouch(tx, db, secret);
          return open;
        });
  }

  /** Forgets that an attempt was opened: the other place knows, and has stored it. */
  public Arrival forget(Attempt attempt) {
    return transactions.run(
        tx ->
            relocations
                .arrival(tx, attempt)
                .filter(it -> it.standing() == Standing.OPEN)
                .map(
                    open -> {
                      relocations.abort(tx, attempt);
                      return open;
                    })
                .orElse(ABORTED));
  }

  private boolean isLost(ReadTransaction tx, Arrival it) {
    return it.standing() != Standing.OPEN
        && it.life().filter(life -> !isKept(tx, life)).isPresent();
  }

  private boolean isKept(ReadTransaction tx, DatabaseInstance life) {
    return Awaiting.await(restores.renewedAt(tx, life.instance())).isPresent();
  }

  /** An older server may have made one of the name meanwhile. */
  private boolean isTaken(Transaction tx, DatabaseInstance life) {
    relocations.release(tx, life);
    try {
      catalogue.requireAbsent(tx, life.name());
      return false;
    } catch (LectusException taken) {
      if (taken.error() instanceof LectusError.PreconditionFailed) {
        return true;
      }
      throw taken;
    }
  }

  /**
   * Gives an attempt up, also one of which nothing has come yet, and all before it, unless the
   * database is open.
   *
   * @return what is decided
   */
  public Arrival abort(Attempt attempt) {
    return transactions.run(
        tx -> {
          Map<Attempt, Arrival> all = relocations.arrivalsUpTo(tx, attempt);
          Optional<Arrival> open =
              all.values().stream().filter(it -> it.standing() == Standing.OPEN).findFirst();
          if (open.isPresent()) {
            return open.get();
          }
          all.keySet().forEach(it -> abort(tx, it));
          return abort(tx, attempt);
        });
  }

  private Arrival abort(Transaction tx, Attempt attempt) {
    Optional<Arrival> found = relocations.arrival(tx, attempt);
    if (found.filter(ABORTED::equals).isPresent()) {
      return ABORTED;
    }
    Optional<DatabaseInstance> life = found.flatMap(Arrival::life);
    if (life.filter(it -> isKept(tx, it)).isPresent()) {
      catalogue.removePrepared(tx, life.get());
      restores.clear(tx, life.get().instance());
    }
    relocations.abort(tx, attempt);
    return ABORTED;
  }
}
