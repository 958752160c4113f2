package lectus.document;

import com.apple.foundationdb.ReadTransaction;
import java.util.function.BiFunction;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.error.LectusException;
import lectus.store.TransactionRunner;

/**
 * The reads of one answer, each at a read version of its own. They all see the same life of the
 * database: created again under its name it is another, whose rows do not continue an answer. For
 * one thread at a time.
 */
public final class DatabaseReads {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseName name;
  private InstanceId instance;

  public DatabaseReads(Catalogue catalogue, TransactionRunner transactions, DatabaseName name) {
    this(catalogue, transactions, name, null);
  }

  /**
   * @param instance the life of the database that is read; null for the one that is found first
   */
  public DatabaseReads(
      Catalogue catalogue, TransactionRunner transactions, DatabaseName name, InstanceId instance) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.name = name;
    this.instance = instance;
  }

  /**
   * Runs the body, again if the store asks for it.
   *
   * @throws LectusException {@code not_found} when the database is gone
   */
  public <T> T read(BiFunction<ReadTransaction, DatabaseHandle, T> body) {
    return transactions.read(tx -> body.apply(tx, current(tx)));
  }

  private DatabaseHandle current(ReadTransaction tx) {
    DatabaseHandle db = catalogue.current(tx, name);
    if (instance != null && !instance.equals(db.instance())) {
      throw LectusException.notFound("Database does not exist.");
    }
    instance = db.instance();
    return db;
  }
}
