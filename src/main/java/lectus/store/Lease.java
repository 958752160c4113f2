package lectus.store;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The right to a task that one server at a time does. Every transaction of the task has the lease
 * in its read conflict set, so a holder that was asleep while another took over commits nothing.
 * The age of a lease is told by the store's versions, about a million a second, and by no clock.
 * When a holder dies, another takes over once the lease is old.
 */
public final class Lease {
  private static final int HOLDER_BYTES = 16;

  private final byte[] key;
  private final byte[] holder;
  private final long lifeVersions;

  /**
   * The lease as a holder of its own sees it.
   *
   * @param task its name in the store
   * @param lifeVersions how many versions after its last renewal it may be taken over
   */
  public Lease(byte[] root, String task, long lifeVersions) {
    this(root, task, newHolder(), lifeVersions);
  }

  /**
   * @param holder who asks, 16 bytes
   */
  public Lease(byte[] root, String task, byte[] holder, long lifeVersions) {
    this.key = new LeaseSubspace(root).key(task);
    this.holder = holder.clone();
    this.lifeVersions = lifeVersions;
  }

  private static byte[] newHolder() {
    byte[] holder = new byte[HOLDER_BYTES];
    new SecureRandom().nextBytes(holder);
    return holder;
  }

  /** Whether somebody else has it. If not, the transaction may do the task, and must hold it. */
  public boolean isTaken(Transaction tx) {
    CompletableFuture<Long> now = tx.getReadVersion();
    Optional<LeaseSubspace.Claim> claim = claim(tx);
    return claim.isPresent()
        && !claim.get().isOf(holder)
        && claim.get().isYoungerThan(lifeVersions, Reads.await(now));
  }

  /** Takes or renews it, with the transaction that does the task; nothing while it is fresh. */
  public void hold(Transaction tx) {
    long now = Reads.await(tx.getReadVersion());
    Optional<LeaseSubspace.Claim> claim = claim(tx);
    boolean isFresh =
        claim.isPresent()
            && claim.get().isOf(holder)
            && claim.get().isYoungerThan(lifeVersions / 4, now);
    if (!isFresh) {
      tx.set(key, LeaseSubspace.value(new LeaseSubspace.Claim(holder, now)));
    }
  }

  /** Whoever asks next gets it. Does nothing where it is another's. */
  public void giveBack(Transaction tx) {
    if (claim(tx).map(it -> it.isOf(holder)).orElse(false)) {
      tx.clear(key);
    }
  }

  private Optional<LeaseSubspace.Claim> claim(ReadTransaction tx) {
    return Optional.ofNullable(Reads.await(tx.get(key))).map(LeaseSubspace::claim);
  }
}
