package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The right to a task that one server at a time performs. Every transaction of the task reads the
 * lease with a conflict, so a holder that slept while another server took over commits nothing. The
 * lease's age is measured in the store's versions, about a million a second, and never by a clock.
 * When a holder dies, another server takes over once the lease is old; or at once, in an embedded
 * store, when it is opened again.
 */
public final class Lease {
  private static final int HOLDER_BYTES = 16;

  private final byte[] key;
  private final byte[] holder;
  private final long lifeVersions;
  private final long livingSince;

  /**
   * Creates a lease for a new holder.
   *
   * @param task its name in the store
   * @param lifeVersions how many versions after its last renewal it may be taken over
   */
  public Lease(Store store, String task, long lifeVersions) {
    this(store, task, newHolder(), lifeVersions);
  }

  /**
   * @param holder the server that asks, 16 bytes
   */
  public Lease(Store store, String task, byte[] holder, long lifeVersions) {
    this(store, task, holder, lifeVersions, store.livingSince());
  }

  private Lease(Store store, String task, byte[] holder, long lifeVersions, long livingSince) {
    this.key = new LeaseSubspace(store.rootPrefix()).key(task);
    this.holder = holder.clone();
    this.lifeVersions = lifeVersions;
    this.livingSince = livingSince;
  }

  /** Returns one that lasts, whether its holder lives or not. */
  static Lease lasting(Store store, String task, long lifeVersions) {
    return new Lease(store, task, newHolder(), lifeVersions, Long.MIN_VALUE);
  }

  /** Returns what tells a server from all others. */
  public static byte[] newHolder() {
    byte[] holder = new byte[HOLDER_BYTES];
    new SecureRandom().nextBytes(holder);
    return holder;
  }

  /**
   * Returns whether another holder has the lease. If not, the transaction may perform the task, and
   * must then call {@link #hold}.
   */
  public boolean isTaken(Transaction tx) {
    CompletableFuture<Long> now = tx.getReadVersion();
    Optional<LeaseSubspace.Claim> claim = claim(tx);
    return claim.isPresent()
        && !claim.get().isOf(holder)
        && claim.get().isYoungerThan(lifeVersions, Awaiting.await(now));
  }

  /**
   * Takes or renews the lease in the transaction that performs the task. A fresh lease is left as
   * it is.
   */
  public void hold(Transaction tx) {
    long now = Awaiting.await(tx.getReadVersion());
    Optional<LeaseSubspace.Claim> claim = claim(tx);
    boolean isFresh =
        claim.isPresent()
            && claim.get().isOf(holder)
            && claim.get().isYoungerThan(lifeVersions / 4, now);
    if (!isFresh) {
      renew(tx, now);
    }
  }

  /** Returns whether anyone has the lease. */
  public boolean isYoung(ReadTransaction tx) {
    CompletableFuture<Long> now = tx.getReadVersion();
    return claim(tx).map(it -> it.isYoungerThan(lifeVersions, Awaiting.await(now))).orElse(false);
  }

  /** Takes the lease from now on, whoever has it. */
  void renew(Transaction tx) {
    renew(tx, Awaiting.await(tx.getReadVersion()));
  }

  /** Makes the transaction a writer, of nothing. */
  void touch(Transaction tx) {
    tx.addWriteConflictKey(key);
  }

  private void renew(Transaction tx, long now) {
    tx.set(key, LeaseSubspace.value(new LeaseSubspace.Claim(holder, now)));
  }

  /** Releases the lease to the next server that asks. Does nothing if another holder has it. */
  public void giveBack(Transaction tx) {
    if (claim(tx).map(it -> it.isOf(holder)).orElse(false)) {
      tx.clear(key);
    }
  }

  private Optional<LeaseSubspace.Claim> claim(ReadTransaction tx) {
    return Optional.ofNullable(Awaiting.await(tx.get(key)))
        .map(LeaseSubspace::claim)
        .filter(it -> it.version() >= livingSince);
  }
}
