package lectus.document.write;

import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** For how long databases keep tombstones: {@code /{db}/_auto_purge}. */
public final class AutoPurge {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public AutoPurge(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /** Returns the setting as JSON. */
  public String get(DatabaseRequest asked) {
    return transactions.read(
        tx ->
            TimeToLive.json(
                Awaiting.await(
                    new AutoPurgeSubspace(asked.current(tx, catalogue)).timeToLive(tx))));
  }

  /**
   * Replaces the setting.
   *
   * @throws LectusException {@code bad_request}; {@code not_found}
   */
  public void put(DatabaseName name, byte[] body) {
    Optional<String> text = TimeToLive.in(body);
    transactions.writeIdempotent(
        tx -> new AutoPurgeSubspace(catalogue.currentForWrites(tx, name)).setTimeToLive(tx, text));
  }
}
