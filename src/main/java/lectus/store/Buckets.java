package lectus.store;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.store.BucketsSubspace.Claim;
import lectus.store.BucketsSubspace.Life;

/**
 * This server's part of tasks without number, which are in buckets by a hash of their names. The
 * servers of a store share the buckets out among themselves: each takes as many as it is due, from
 * what nobody has or a dead server had, and gives back what it has beyond that. Who is alive is
 * measured in the store's versions, and never by a clock. Used by one thread.
 */
public final class Buckets {
  /**
   * A lease for each of ten thousand tasks would be renewed more often than anything is written.
   */
  public static final int COUNT = 64;

  /** Five seconds, after which a server without a sign of life has lost what it had. */
  private static final long LIFE_VERSIONS = 5_000_000;

  /** Rows of servers that are gone for so long are removed. */
  private static final long FORGOTTEN_VERSIONS = 20 * LIFE_VERSIONS;

  private final BucketsSubspace rows;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final byte[] holder;
  private final String ownName;
  private Set<Integer> leaving = Set.of();

  public Buckets(Store store) {
    this.rows = new BucketsSubspace(store.rootPrefix());
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.atTheEnd = new TransactionRunner(store, TransactionLimits.AT_THE_END);
    this.holder = Lease.newHolder();
    this.ownName = HexFormat.of().formatHex(holder);
  }

  public static int of(String name) {
    int hash = name.hashCode();
    return Math.floorMod(hash ^ hash >>> 16, COUNT);
  }

  /**
   * Shows that this server is alive, takes buckets and gives some back. What it is to give back is
   * missing in the answer, and stays its own until the next call, so that work on it can end.
   *
   * @return the buckets that it has, each with what things are stored under
   */
  public Map<Integer, Fence> look() {
    Share share = transactions.runIdempotent(this::look);
    Map<Integer, Fence> kept = new HashMap<>();
    share.held().forEach((bucket, claim) -> kept.put(bucket, rows.row(claim)));
    leaving =
        kept.keySet().stream()
            .sorted()
            .limit(Math.max(0, kept.size() - share.due()))
            .collect(Collectors.toUnmodifiableSet());
    kept.keySet().removeAll(leaving);
    return kept;
  }

  /**
   * @param due how many buckets a server is to have at most
   */
  private record Share(Map<Integer, Claim> held, int due) {}

  private Share look(Transaction tx) {
    View view = view(tx);
    if (!view.isYounger(ownName, LIFE_VERSIONS / 4)) {
      tx.set(rows.key(holder), BucketsSubspace.life(view.now()));
    }
    Map<Integer, Claim> held = new HashMap<>();
    view.claims().values().stream()
        .filter(claim -> claim.isOf(holder))
        .forEach(claim -> held.put(claim.bucket(), claim));
    for (int bucket : leaving) {
      if (held.remove(bucket) != null) {
        change(tx, bucket);
        tx.clear(rows.key(bucket));
      }
    }
    int due = (COUNT + view.sharers(ownName) - 1) / view.sharers(ownName);
    view.free(leaving).stream()
        .limit(Math.max(0, due - held.size()))
        .forEach(bucket -> held.put(bucket, take(tx, view, bucket)));
    forget(tx, view);
    return new Share(held, due);
  }

  private Claim take(Transaction tx, View view, int bucket) {
    change(tx, bucket);
    Claim former = view.claims().get(bucket);
    if (former != null) {
      // It must not have shown a sign of life meanwhile.
      tx.addReadConflictKey(rows.key(former.holder()));
    }
    Claim claim = new Claim(bucket, holder, view.now());
    Fence row = rows.row(claim);
    tx.set(row.key(), row.value());
    return claim;
  }

  /** What was read of it, without a conflict, must still be so. */
  private void change(Transaction tx, int bucket) {
    tx.addReadConflictKey(rows.key(bucket));
  }

  /** Removes what is left of servers that are gone. */
  private void forget(Transaction tx, View view) {
    for (Life life : view.lives().values()) {
      boolean hasBucket = view.claims().values().stream().anyMatch(it -> it.isOf(life.holder()));
      if (!hasBucket && !life.isYoungerThan(FORGOTTEN_VERSIONS, view.now())) {
        byte[] key = rows.key(life.holder());
        tx.addReadConflictKey(key);
        tx.clear(key);
      }
    }
  }

  private View view(Transaction tx) {
    List<KeyValue> all = Awaiting.await(tx.snapshot().getRange(rows.range()).asList());
    Map<Integer, Claim> claims = new HashMap<>();
    Map<String, Life> lives = new HashMap<>();
    for (KeyValue row : all) {
      if (rows.isOfBucket(row)) {
        Claim claim = rows.claim(row);
        claims.put(claim.bucket(), claim);
      } else {
        Life life = rows.life(row);
        lives.put(nameOf(life.holder()), life);
      }
    }
    return new View(Awaiting.await(tx.getReadVersion()), claims, lives);
  }

  private static String nameOf(byte[] holder) {
    return HexFormat.of().formatHex(holder);
  }

  /** Everything that a transaction sees. */
  private record View(long now, Map<Integer, Claim> claims, Map<String, Life> lives) {
    boolean isYounger(String holder, long versions) {
      Life life = lives.get(holder);
      return life != null && life.isYoungerThan(versions, now);
    }

    /** Returns how many servers share the buckets, this one included. */
    int sharers(String own) {
      return 1
          + (int)
              lives.keySet().stream()
                  .filter(it -> !it.equals(own) && isYounger(it, LIFE_VERSIONS))
                  .count();
    }

    /** Returns the buckets that nobody has, in any order, so that servers take different ones. */
    List<Integer> free(Set<Integer> butThese) {
      List<Integer> free = new ArrayList<>();
      for (int bucket = 0; bucket < COUNT; bucket++) {
        Claim claim = claims.get(bucket);
        boolean isFree = claim == null || !isYounger(nameOf(claim.holder()), LIFE_VERSIONS);
        if (isFree && !butThese.contains(bucket)) {
          free.add(bucket);
        }
      }
      Collections.shuffle(free);
      return free;
    }
  }

  public void giveBack() {
    atTheEnd.writeIdempotent(
        tx -> {
          for (Claim claim : view(tx).claims().values()) {
            if (claim.isOf(holder)) {
              change(tx, claim.bucket());
              tx.clear(rows.key(claim.bucket()));
            }
          }
          tx.clear(rows.key(holder));
        });
    leaving = Set.of();
  }
}
