package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Reads the state of many databases at one read version, for a poller. */
public final class TailLookup {
  /** Far below what fits into a transaction's five seconds. */
  private static final int MAX_SHARDS_AT_ONCE = 1_024;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final int mostShards;

  public TailLookup(Catalogue catalogue, TransactionRunner transactions) {
    this(catalogue, transactions, MAX_SHARDS_AT_ONCE);
  }

  /**
   * @param mostShards maximum number of shards that one transaction reads, unless a single database
   *     has more
   */
  TailLookup(Catalogue catalogue, TransactionRunner transactions, int mostShards) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.mostShards = mostShards;
  }

  /**
   * Reads as many of the tails as fit into one transaction. All reads are snapshot reads, one for
   * each shard of a database's current generation, started together.
   *
   * @return the tails of the first databases, at least one, in order
   */
  public List<DatabaseTail> read(List<DatabaseHandle> databases) {
    return transactions.read(
        tx -> read(tx, databases.subList(0, Math.min(mostShards, databases.size()))));
  }

  List<DatabaseTail> read(ReadTransaction tx, List<DatabaseHandle> databases) {
    List<Optional<DatabaseHandle>> current =
        catalogue.locateAll(tx, databases.stream().map(DatabaseHandle::name).toList());
    List<CompletableFuture<DatabaseTail>> reading = new ArrayList<>(databases.size());
    int shards = 0;
    for (int i = 0; i < databases.size(); i++) {
      shards += current.get(i).map(it -> it.topology().current().shards().size()).orElse(0);
      if (shards > mostShards && i > 0) {
        break;
      }
      reading.add(tail(tx, databases.get(i), current.get(i)));
    }
    return reading.stream().map(Awaiting::await).toList();
  }

  private static CompletableFuture<DatabaseTail> tail(
      ReadTransaction tx, DatabaseHandle known, Optional<DatabaseHandle> current) {
    InstanceId instance = known.instance();
    return current
        .filter(handle -> handle.instance().equals(instance))
        .filter(handle -> handle.moved().equals(known.moved()))
        .map(
            handle ->
                new UpdateSequence(handle)
                    .read(tx)
                    .thenApply(
                        it ->
                            new DatabaseTail(
                                instance, false, moved(known, handle, here(handle, it)))))
        .orElseGet(
            () ->
                CompletableFuture.completedFuture(
                    new DatabaseTail(instance, true, Optional.empty())));
  }

  /** All that a database came with is told as the point at which it came. */
  private static Optional<Sequence> here(DatabaseHandle db, Optional<Sequence> last) {
    return last.map(it -> new Sequence(db.incarnation(), db.incarnations().placeOf(it).bytes()));
  }

  /** A database whose configuration changed has moved, though it has no entry of that. */
  private static Optional<Sequence> moved(
      DatabaseHandle known, DatabaseHandle current, Optional<Sequence> last) {
    if (Arrays.equals(known.version(), current.version())) {
      return last;
    }
    Optional<Sequence> configured = current.configuredAt();
    boolean isLater =
        configured.isPresent() && (last.isEmpty() || last.get().compareTo(configured.get()) < 0);
    return isLater ? configured : last;
  }

  /**
   * The state of one life of a database.
   *
   * @param isOver whether the database was deleted, and perhaps created again under its name, or is
   *     elsewhere and was not
   * @param last its update sequence, where it came if that is older, or the sequence of a later
   *     change of its configuration; empty if there is none
   */
  public record DatabaseTail(InstanceId instance, boolean isOver, Optional<Sequence> last) {}
}
